"use strict";
// Charts: uPlot with our colours, a description for those who cannot see it, and its data
// to look at and to save.

// ink is a colour of the style sheet. The browser is asked once for each, until the scheme changes: after a change
// of the page it would compute styles anew for every question.
const inks = new Map(), colours = ["ground", "accent", "second", "third", "soft", "line", "band"];
function ink(name) {
  if (!inks.has(name)) inks.set(name, getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim());
  return inks.get(name);
}

// placed gives functions from a chart's values to its pixels, which for many points take a fraction of
// the time of uPlot's own.
function placed(u, scale) {
  const along = (s, from, length) => {
    const k = length / (s.max - s.min), zero = from - k * s.min;
    return (v) => zero + k * v;
  };
  const { left, top, width, height } = u.bbox;
  return [along(u.scales.x, left, width), along(u.scales[scale || "y"], top + height, -height)];
}

// inside draws with a colour, and not beyond the axes.
function inside(u, colour, draw) {
  const c = u.ctx, { left, top, width, height } = u.bbox;
  c.save();
  c.beginPath();
  c.rect(left, top, width, height);
  c.clip();
  c.fillStyle = ink(colour);
  draw(c);
  c.restore();
}

// bars draws vertical error bars of a description; of those that share a pixel one that spans them.
function bars(u, spec) {
  const [px, py] = placed(u), x = spec.x.values, [low, high] = spec.bars.map((i) => spec.series[i].values), wide = devicePixelRatio, many = isMany(spec);
  inside(u, "accent", (c) => {
    c.globalAlpha = Math.max(0.2, Math.min(0.55, 150 / x.length)); // many bars are a haze, not a wall
    let at = null, top, bottom;
    const bar = () => at !== null && c.fillRect(at - wide / 2, top, wide, bottom - top);
    for (let i = 0; i < x.length; i++) {
      if (!known(low[i]) || !known(high[i])) continue;
      const here = many ? Math.round(px(x[i])) : px(x[i]), a = py(high[i]), b = py(low[i]);
      if (many && here === at) {
        top = Math.min(top, a);
        bottom = Math.max(bottom, b);
        continue;
      }
      bar();
      [at, top, bottom] = [here, a, b];
    }
    bar();
  });
}

// manyPoints is from where on points are drawn as dots: circles would take the browser long, and
// look no different.
const manyPoints = 600, isMany = (spec) => spec.x.values.length > manyPoints;

// dots draws the points of a series as small squares: cells of two pixels that have one, neighbours of a row in one go.
function dots(u, x, s) {
  const y = s.values, [px, py] = placed(u, s.scale), cell = 2 * devicePixelRatio, more = s.size > 2 ? devicePixelRatio : 0, { left, top, width, height } = u.bbox;
  const wide = Math.ceil(width / cell) + 1, high = Math.ceil(height / cell), seen = new Uint8Array(wide * high); // the last column stays empty
  for (let i = 0; i < x.length; i++) {
    if (y[i] == null) continue;
    const a = Math.floor((px(x[i]) - left) / cell), b = Math.floor((py(y[i]) - top) / cell);
    if (a >= 0 && a < wide - 1 && b >= 0 && b < high) seen[b * wide + a] = 1;
  }
  inside(u, s.colour || "accent", (c) => {
    for (let from = seen.indexOf(1); from >= 0; ) {
      const to = seen.indexOf(0, from), row = Math.floor(from / wide);
      c.fillRect(left + (from - row * wide) * cell, top + row * cell, (to - from) * cell + more, cell + more);
      from = seen.indexOf(1, to);
    }
  });
}

// rowsOf are the rows of a description that its lines and scales need: of every two pixels one, and of each
// series its ends, where it is lowest and highest, and where a step is. Dots and bars are drawn from all rows.
function rowsOf(spec, width) {
  const n = spec.x.values.length, rows = new Uint8Array(n), out = [];
  rows[0] = rows[n - 1] = 1;
  for (let k = 0; k < width / 2; k++) rows[Math.floor((2 * k * n) / width)] = 1;
  for (const { kind, values } of spec.series) {
    if (!values) continue;
    let low = 0, high = 0;
    for (let i = 1; i < n; i++) {
      if (values[i] == null) continue;
      if (!(values[i] >= values[low])) low = i;
      if (!(values[i] <= values[high])) high = i;
      if (kind === "step" && values[i] !== values[i - 1]) rows[i - 1] = rows[i] = 1;
    }
    rows[low] = rows[high] = 1;
  }
  rows.forEach((wanted, i) => wanted && out.push(i));
  return out;
}

// A chart is described by: title, summary, x: {label, values}, series: [{label, values or level,
// colour, kind: "line" | "points" | "step" | "hidden", dash, scale}], bands: [[upper, lower]]
// by index of series, bars: [low, high], yLabel, rightLabel, wide.
class Chart {
  constructor(title, wide, jobs) {
    this.title = title;
    this.jobs = jobs;
    this.plot = h("div", { class: "plot", role: "img", "aria-label": title });
    this.caption = h("figcaption");
    this.details = h("details", null, h("summary", null, "Data as a table"));
    this.element = h("figure", { class: wide ? "wide" : null, id: "figure-" + slug(title) },
      h(wide ? "h2" : "h3", null, title), this.plot, this.caption,
      h("div", { class: "tools" },
        h("button", { type: "button", onclick: () => this.savePNG() }, "Save PNG"),
        h("button", { type: "button", onclick: () => this.saveCSV() }, "Save CSV")),
      this.details);
    this.details.addEventListener("toggle", () => this.fillTable());
    this.resized = new ResizeObserver(([e]) => this.resize(e.contentRect.width));
    this.resized.observe(this.plot);
    // What nobody sees is not drawn until it is near the window, or printed.
    this.near = new IntersectionObserver((all) => {
      this.seen = all[all.length - 1].isIntersecting;
      if (this.seen && this.stale) this.drawLater();
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
    if (!this.u || this.stale || this.parts) return this.drawLater();
    this.describe();
    if (this.shape === shapeOf(this.spec)) this.fill();
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
    this.parts = null;
    if (!this.wanted(unseen)) return; // the observers call again, or the data will
    this.describe();
    this.lay();
    this.fill();
    this.hang();
  }

  // wanted says that the chart is to be drawn now. The observer has told how wide it is: to ask would lay out the
  // whole page.
  wanted(unseen) {
    if (unseen) this.width = this.plot.clientWidth;
    this.stale = !this.width || !(this.seen || unseen);
    return !this.stale && Boolean(this.make || this.spec);
  }

  // drawLater does the same a part in a job: thousands of points at once would keep the page from answering.
  drawLater() {
    const parts = (this.parts = {}); // another drawing ends this one
    const part = (name, job) => this.jobs.later(`${this.title}, ${name}`, () => this.parts === parts && job());
    part("described", () => {
      if (this.wanted()) this.describe();
      else this.parts = null;
    });
    part("read", () => (this.data = dataOf(this.spec, this.width)));
    part("laid", () => {
      this.lay();
      this.bare = isMany(this.spec);
    });
    part("filled", () => this.u.setData(this.data));
    part("dotted", () => this.bare && this.below(() => this.spec.series.forEach((s) => s.kind === "points" && dots(this.u, this.spec.x.values, s))));
    part("barred", () => {
      if (this.bare && this.spec.bars) this.below(() => bars(this.u, this.spec));
      this.bare = false;
      this.hang();
      this.parts = null;
    });
  }

  // lay makes the chart, without data, and apart from the page: a half of it would be laid out and painted as well.
  lay() {
    if (this.u !== this.hung) this.u.destroy();
    this.bare = false;
    this.shape = shapeOf(this.spec);
    this.u = new uPlot(optionsOf(this.spec, this.width, this), null, h("div"));
  }

  // hang puts the chart on the page, in place of an older one.
  hang() {
    if (this.u === this.hung) return;
    this.hung?.destroy();
    this.hung = this.u;
    this.plot.append(this.u.root);
  }

  fill() {
    this.u.setData(dataOf(this.spec, this.width));
  }

  // below draws under what is there already.
  below(draw) {
    this.u.ctx.globalCompositeOperation = "destination-over";
    draw();
    this.u.ctx.globalCompositeOperation = "source-over";
  }

  resize(width) {
    this.width = width;
    if (!this.u) this.stale && this.drawLater();
    else if (width && Math.abs(this.u.width - width) > 1) this.u.setSize({ width, height: this.u.height });
  }

  columns() {
    const s = this.spec;
    return [[s.x.label, ...s.series.map((r) => named({ name: r.label, unit: r.unit }))], [s.x.values, ...s.series.map((r) => valuesOf(r, s.x.values.length))]];
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
    if (!this.u || this.stale || this.parts) this.draw(true);
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

const shapeOf = (spec) => JSON.stringify([isMany(spec), spec.series.map((s) => [s.label, s.kind, s.colour]), spec.x.label, spec.yLabel, spec.yRange]);

// valuesOf are the values of a series, of which a level has one.
const valuesOf = (s, n) => s.values || new Array(n).fill(s.level);

// dataOf is what uPlot is given of a description: a level only its ends, where there are many rows.
function dataOf(spec, width) {
  const n = spec.x.values.length;
  if (n <= Math.max(manyPoints, width)) return [spec.x.values, ...spec.series.map((s) => valuesOf(s, n))];
  const rows = rowsOf(spec, width), of = (values) => rows.map((i) => values[i]), last = rows.length - 1;
  return [of(spec.x.values), ...spec.series.map((s) => (s.values ? of(s.values) : rows.map((_, k) => (k && k < last ? null : s.level))))];
}

function seriesOf(s, barred, many) {
  const colour = ink(s.colour || "accent");
  const points = s.kind === "points";
  return {
    label: s.label, scale: s.scale || "y", stroke: s.kind === "hidden" ? "transparent" : colour, class: s.kind === "hidden" ? "unseen" : null,
    width: points || s.kind === "hidden" ? 0 : s.width || 2, dash: s.dash,
    paths: points || barred ? () => null : s.kind === "step" ? uPlot.paths.stepped({ align: 1 }) : undefined,
    points: { show: points && !many, size: s.size || 6, stroke: colour, fill: s.hollow ? "transparent" : colour, width: s.width || 1.5 },
    spanGaps: !points, value: (_, v, i, at) => (known(v) ? num(v) : s.values || at == null ? "" : num(s.level)),
  };
}

// optionsOf are uPlot's options for a chart, which draws its own dots and bars.
function optionsOf(spec, width, chart) {
  const axis = (extra) => ({ stroke: ink("soft"), grid: { stroke: ink("line"), width: 0.5 }, ticks: { stroke: ink("line"), width: 0.5 },
    font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif", labelSize: 20, ...extra });
  const whole = spec.x.label === "step" ? [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6] : undefined; // there is no step 1.5
  const axes = [axis({ label: spec.x.label, ...(whole && { incrs: whole }) }), axis({ label: spec.yLabel, size: 62, scale: "y" })];
  const scales = { x: { time: false, range: spec.xRange }, y: { range: spec.yRange } };
  if (spec.rightLabel) {
    axes.push(axis({ label: spec.rightLabel, size: 62, scale: "right", side: 1, grid: { show: false } }));
    scales.right = { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.1 : 1] };
  }
  const many = isMany(spec), hooks = {};
  if (spec.bars) hooks.drawAxes = [(u) => chart.bare || bars(u, chart.spec)];
  if (many) hooks.drawSeries = [(u, i) => chart.bare || chart.spec.series[i - 1].kind !== "points" || dots(u, chart.spec.x.values, chart.spec.series[i - 1])];
  return {
    width, height: spec.wide ? 320 : 240, scales, axes, hooks,
    series: [{ label: spec.x.label, value: (_, v) => (known(v) ? num(v) : "") }, ...spec.series.map((s, i) => seriesOf(s, spec.bars && spec.bars.includes(i), many))],
    bands: (spec.bands || []).map(([a, b]) => ({ series: [a + 1, b + 1], fill: ink("band") })),
    legend: { markers: { width: 2, dash: (_, i) => (spec.series[i - 1].dash ? "dashed" : "solid"), fill: (_, i) => (spec.series[i - 1].hollow || spec.series[i - 1].dash ? "transparent" : ink(spec.series[i - 1].colour || "accent")),
      stroke: (_, i) => ink(spec.series[i - 1].colour || "accent") } },
    cursor: { drag: { x: true, y: false } },
  };
}
