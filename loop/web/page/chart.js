"use strict";
// Charts: uPlot with our colours, a description for those who cannot see it, and its data
// to look at and to save.

const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

// bars draws vertical error bars: low and high are indexes of data rows.
function bars(low, high, colour) {
  return (u) => {
    const c = u.ctx, wide = devicePixelRatio;
    c.save();
    c.fillStyle = ink(colour);
    c.globalAlpha = Math.max(0.06, Math.min(0.55, 150 / u.data[0].length)); // many bars are a haze, not a wall
    for (let i = 0; i < u.data[0].length; i++) {
      const a = u.data[low][i], b = u.data[high][i];
      if (!known(a) || !known(b)) continue;
      const top = u.valToPos(b, "y", true);
      c.fillRect(u.valToPos(u.data[0][i], "x", true) - wide / 2, top, wide, u.valToPos(a, "y", true) - top);
    }
    c.restore();
  };
}

// manyPoints is from where on points are drawn as dots: circles would take the browser long, and
// look no different.
const manyPoints = 600;

// dots draws the points of a series as small squares, those that fall on one another once.
function dots(u, i, s) {
  const c = u.ctx, size = Math.max(2, Math.min(3, s.size || 3)) * devicePixelRatio, x = u.data[0], y = u.data[i], { left, top, width, height } = u.bbox, cells = new Set();
  c.save();
  c.beginPath();
  c.rect(left, top, width, height);
  c.clip();
  c.fillStyle = ink(s.colour || "accent");
  for (let k = 0; k < x.length; k++) {
    if (!known(y[k])) continue;
    const px = Math.round(u.valToPos(x[k], "x", true) - size / 2), py = Math.round(u.valToPos(y[k], s.scale || "y", true) - size / 2), cell = (px >> 1) * 65536 + (py >> 1);
    if (cells.has(cell)) continue;
    cells.add(cell);
    c.fillRect(px, py, size, size);
  }
  c.restore();
}

// A chart is described by: title, summary, x: {label, values}, series: [{label, values,
// colour, kind: "line" | "points" | "step" | "hidden", dash, scale}], bands: [[upper, lower]]
// by index of series, bars: [low, high], yLabel, rightLabel, wide.
class Chart {
  constructor(title, wide) {
    this.title = title;
    this.plot = h("div", { class: "plot", role: "img", "aria-label": title });
    this.caption = h("figcaption");
    this.details = h("details", null, h("summary", null, "Data as a table"));
    this.element = h("figure", { class: wide ? "wide" : null, id: "figure-" + slug(title) },
      h("h3", null, title), this.plot, this.caption,
      h("div", { class: "tools" },
        h("button", { type: "button", onclick: () => this.savePNG() }, "Save PNG"),
        h("button", { type: "button", onclick: () => this.saveCSV() }, "Save CSV")),
      this.details);
    this.details.addEventListener("toggle", () => this.fillTable());
    this.resized = new ResizeObserver(() => this.resize());
    this.resized.observe(this.plot);
    // What nobody sees is not drawn until it is near the window, or printed.
    this.near = new IntersectionObserver((all) => {
      this.seen = all[all.length - 1].isIntersecting;
      if (this.seen && this.stale) setTimeout(() => this.stale && this.draw()); // a task of its own
    }, { rootMargin: "400px" });
    this.near.observe(this.plot);
  }

  leave() {
    this.resized.disconnect();
    this.near.disconnect();
  }

  // update takes what makes the description: it is made when the chart is near the window.
  update(make) {
    this.make = make;
    if (!this.seen) this.stale = true;
    else this.refresh();
  }

  // refresh describes the chart as the run is now, and draws it.
  refresh() {
    this.describe();
    if (this.u && !this.stale && this.shape === shapeOf(this.spec)) this.u.setData(dataOf(this.spec));
    else this.draw();
  }

  describe() {
    if (!this.make) return;
    const spec = (this.spec = this.make());
    this.make = null;
    this.caption.textContent = spec.summary;
    this.plot.setAttribute("aria-label", spec.title + ". " + spec.summary);
    this.fillTable();
  }

  // draw draws anew what is in sight, or else notes that it is to be.
  draw(unseen) {
    const width = this.plot.clientWidth;
    this.stale = !width || !(this.seen || unseen);
    if (!this.stale) this.describe();
    if (this.stale || !this.spec) return; // the observers call again, or the data will
    this.u?.destroy();
    this.shape = shapeOf(this.spec);
    this.u = new uPlot(optionsOf(this.spec, width), dataOf(this.spec), this.plot);
  }

  resize() {
    if (!this.u) this.draw();
    else if (Math.abs(this.u.width - this.plot.clientWidth) > 1) this.u.setSize({ width: this.plot.clientWidth, height: this.u.height });
  }

  columns() {
    const s = this.spec;
    return [[s.x.label, ...s.series.map((r) => named({ name: r.label, unit: r.unit }))], [s.x.values, ...s.series.map((r) => r.values)]];
  }

  fillTable() {
    if (!this.details.open) return;
    if (this.make) return this.describe(); // which fills it
    const [headings, columns] = this.columns();
    const rows = columns[0].map((_, i) => columns.map((c) => num(c[i], 6))).slice(-300);
    const more = columns[0].length > rows.length ? h("p", null, `The last ${rows.length} of ${columns[0].length} rows; Save CSV has them all.`) : null;
    this.details.replaceChildren(...[this.details.firstChild, more, table(this.spec.title, headings.map((t) => [t, true]), rows)].filter(Boolean));
  }

  saveCSV() {
    this.describe();
    const [headings, columns] = this.columns();
    save(slug(this.spec.title) + ".csv", "text/csv", csv(headings, columns));
  }

  async savePNG() {
    if (!this.u || this.stale) this.draw(true);
    if (!this.u) return;
    await null; // it draws behind what is being done
    const from = this.u.ctx.canvas, to = h("canvas", { width: from.width, height: from.height });
    const c = to.getContext("2d");
    c.fillStyle = ink("ground");
    c.fillRect(0, 0, to.width, to.height);
    c.drawImage(from, 0, 0);
    to.toBlob((blob) => save(slug(this.spec.title) + ".png", "image/png", blob));
  }
}

const shapeOf = (spec) => JSON.stringify([spec.x.values.length > manyPoints, spec.series.map((s) => [s.label, s.kind, s.colour]), spec.x.label, spec.yLabel, spec.yRange]);
const dataOf = (spec) => [spec.x.values, ...spec.series.map((s) => s.values)];

function seriesOf(s, barred, many) {
  const colour = ink(s.colour || "accent");
  const points = s.kind === "points";
  return {
    label: s.label, scale: s.scale || "y", stroke: s.kind === "hidden" ? "transparent" : colour, class: s.kind === "hidden" ? "unseen" : null,
    width: points || s.kind === "hidden" ? 0 : s.width || 2, dash: s.dash,
    paths: points || barred ? () => null : s.kind === "step" ? uPlot.paths.stepped({ align: 1 }) : undefined,
    points: { show: points && !many, size: s.size || 6, stroke: colour, fill: s.hollow ? "transparent" : colour, width: s.width || 1.5 },
    spanGaps: !points, value: (_, v) => (known(v) ? num(v) : ""),
  };
}

function optionsOf(spec, width) {
  const axis = (extra) => ({ stroke: ink("soft"), grid: { stroke: ink("line"), width: 0.5 }, ticks: { stroke: ink("line"), width: 0.5 },
    font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif", labelSize: 20, ...extra });
  const whole = spec.x.label === "step" ? [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1e5, 1e6] : undefined; // there is no step 1.5
  const axes = [axis({ label: spec.x.label, ...(whole && { incrs: whole }) }), axis({ label: spec.yLabel, size: 62, scale: "y" })];
  const scales = { x: { time: false, range: spec.xRange }, y: { range: spec.yRange } };
  if (spec.rightLabel) {
    axes.push(axis({ label: spec.rightLabel, size: 62, scale: "right", side: 1, grid: { show: false } }));
    scales.right = { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.1 : 1] };
  }
  const many = spec.x.values.length > manyPoints, hooks = {};
  if (spec.bars) hooks.drawAxes = [bars(spec.bars[0] + 1, spec.bars[1] + 1, "accent")];
  if (many) hooks.drawSeries = [(u, i) => spec.series[i - 1].kind === "points" && dots(u, i, spec.series[i - 1])];
  return {
    width, height: spec.wide ? 320 : 240, scales, axes, hooks,
    series: [{ label: spec.x.label, value: (_, v) => (known(v) ? num(v) : "") }, ...spec.series.map((s, i) => seriesOf(s, spec.bars && spec.bars.includes(i), many))],
    bands: (spec.bands || []).map(([a, b]) => ({ series: [a + 1, b + 1], fill: ink("band") })),
    legend: { markers: { width: 2, dash: (_, i) => (spec.series[i - 1].dash ? "dashed" : "solid"), fill: (_, i) => (spec.series[i - 1].hollow || spec.series[i - 1].dash ? "transparent" : ink(spec.series[i - 1].colour || "accent")),
      stroke: (_, i) => ink(spec.series[i - 1].colour || "accent") } },
    cursor: { drag: { x: true, y: false } },
  };
}
