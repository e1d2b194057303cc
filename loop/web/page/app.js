"use strict";
// The page: draws the document, and draws it again where colours or data change. A report
// carries its document inside; the dashboard gets it from the server (live.js).

class Page {
  constructor(root, live) {
    this.root = root;
    this.live = live;
    this.charts = new Map();
    this.parts = {};
    const redraw = () => this.charts.forEach((c) => c.draw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    matchMedia("print").addEventListener("change", redraw); // paper is light
  }

  // show draws everything; charts that are there already are given new data.
  show(d) {
    this.document = d;
    document.title = `${d.run.name} · tuner`;
    if (!this.parts.main) this.build(d);
    const p = this.parts;
    if (p.drawings) p.drawings.knows(d);
    p.heading.textContent = d.run.name;
    p.sub.title = p.sub.textContent = `${modeWords[d.run.mode] || d.run.mode} by ${d.run.policy}, ${counted(d.total, "step")}` + (d.total > d.steps.length ? ` (${d.steps.length} shown)` : "");
    if (!this.live) p.state.title = p.state.textContent = d.run.finished ? "ended: " + endWords(d, d.run.reason) : "not finished";
    this.replace("headline", headlineSection(d));
    this.root.classList.toggle("drawn", Boolean(d.figures && d.figures.length));
    this.replace("health", healthSection(d));
    this.replace("best", bestSection(d));
    this.replace("sets", setsSection(d));
    this.replace("pictures", picturesSection(d));
    this.replace("safety", safetySection(d));
    this.replace("why", whySection(d));
    this.replace("events", eventsSection(d));
    this.replace("about", aboutSection(d, this));
    this.draw(p.objective, [objectiveSpec(d)]);
    const slices = d.picture ? d.picture.slices.map((s) => sliceSpec(d, s)) : [];
    this.draw(p.slices, slices);
    this.draw(p.knobs, d.steps.length ? d.run.variables.map((_, i) => knobSpec(d, i)) : []);
    p.noSlices.hidden = slices.length > 0;
    p.noKnobs.hidden = d.steps.length > 0;
  }

  build(d) {
    const p = this.parts;
    p.heading = h("h1");
    p.sub = h("span", { class: "sub" });
    p.state = h("span", { class: "state", role: "status", id: "state" });
    p.actions = h("span", { class: "live" });
    p.objective = h("div", { class: "figures" });
    p.slices = h("div", { class: "figures" });
    p.knobs = h("div", { class: "figures" });
    p.noSlices = h("p", null, "Nothing to draw yet: the model needs a step with valid data.");
    p.noKnobs = h("p", null, "No step is over yet.");
    const figures = (id, title, ...boxes) => h("section", { class: "figures-" + id, "aria-labelledby": id }, h("h2", { id }, title), boxes);
    p.alarms = h("div", { class: this.live ? "messages" : null });
    if (this.live) p.drawings = new Drawings();
    for (const name of ["headline", "status", "health", "best", "sets", "pictures", "safety", "why", "events", "about"]) p[name] = h("section");
    p.main = h("main", { id: "main", tabindex: "-1" }, p.alarms, p.headline, figures("objective", "Objective", p.objective), h("div", { class: "pair" }, p.best, p.status), p.health, p.pictures, p.drawings && p.drawings.element, p.sets,
      figures("slices", "What the model believes", p.noSlices, p.slices), figures("knobs", "Variables, step by step", p.noKnobs, p.knobs), p.why, p.safety, p.events, p.about);
    this.root.replaceChildren(h("a", { class: "skip", href: "#main" }, "Skip to the run"),
      h("header", { class: "bar" }, h("div", { class: "head" }, p.heading, p.state), p.sub, p.actions), p.main);
  }

  // replace makes a part of the page like a new one.
  replace(name, fresh) {
    renew(this.parts[name], fresh);
  }

  // draw sees that a box has these charts, in order.
  draw(box, specs) {
    const seen = new Set();
    for (const spec of specs) {
      seen.add(spec.title);
      const chart = this.charts.get(spec.title);
      if (chart) {
        chart.update(spec);
      } else {
        const c = new Chart(spec);
        this.charts.set(spec.title, c);
        c.box = box;
        box.append(c.element);
      }
    }
    for (const [title, c] of this.charts) {
      if (c.box === box && !seen.has(title)) {
        c.observer.disconnect();
        c.element.remove();
        this.charts.delete(title);
      }
    }
  }
}

function start() {
  const inside = document.getElementById("document");
  const page = new Page(document.getElementById("app"), !inside);
  if (inside) page.show(JSON.parse(inside.textContent));
  else new Live(page).start();
}
