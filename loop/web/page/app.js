"use strict";
// The page: draws the document, and draws it again where colours or data change. A report
// carries its document inside; the dashboard gets it from the server (live.js).

class Page {
  constructor(root, live) {
    this.root = root;
    this.live = live;
    this.charts = new Map();
    this.parts = {};
    this.jobs = new Jobs((busy) => busy ? this.parts.main.setAttribute("aria-busy", "true") : this.parts.main.removeAttribute("aria-busy"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.charts.forEach((c) => c.draw()));
    const all = () => this.charts.forEach((c) => c.draw(true));
    matchMedia("print").addEventListener("change", all); // paper is light, and has no part that is out of sight
    addEventListener("beforeprint", () => {
      this.jobs.finish();
      all();
    });
  }

  // begin draws the first screen, which needs no step.
  begin(d) {
    this.document = d;
    document.title = `${d.run.name} · tuner`;
    if (!this.parts.main) this.build(d);
    const p = this.parts;
    if (p.drawings) p.drawings.knows(d);
    p.heading.textContent = d.run.name;
    this.replace("headline", headlineSection(d));
  }

  // show draws everything; charts that are there already are given new data.
  show(d) {
    this.begin(d);
    const p = this.parts;
    p.sub.title = p.sub.textContent = `${modeWords[d.run.mode] || d.run.mode} by ${d.run.policy}, ${counted(d.total, "step")}` + (d.total > d.steps.length ? ` (${d.steps.length} shown)` : "");
    if (!this.live) p.state.title = p.state.textContent = d.run.finished ? "ended: " + endWords(d, d.run.reason) : "not finished";
    this.root.classList.toggle("drawn", Boolean(d.figures && d.figures.length));
    const charts = (name, box, specs) => this.jobs.later(name, () => this.draw(box, specs));
    charts("objective", p.objective, [["Objective: " + d.run.objective, () => objectiveSpec(d), true]]);
    const sections = { best: bestSection, health: healthSection, sets: setsSection, pictures: picturesSection, why: whySection, safety: safetySection, events: eventsSection, about: aboutSection };
    for (const [name, section] of Object.entries(sections)) this.jobs.later(name, () => this.replace(name, section(d, this)));
    const slices = d.picture ? d.picture.slices : [];
    charts("slices", p.slices, slices.map((s) => ["Model along " + d.run.variables[s.variable].name, () => sliceSpec(d, s)]));
    charts("knobs", p.knobs, d.steps.length ? d.run.variables.map((v, i) => ["Variable: " + v.name, () => knobSpec(d, i)]) : []);
    p.noSlices.hidden = slices.length > 0;
    p.noKnobs.hidden = d.steps.length > 0;
    if (!this.live) this.jobs.finish();
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

  // draw sees that a box has these charts, in order, each as [title, what makes its description,
  // whether it is wide]; each is described and drawn in a task of its own.
  draw(box, specs) {
    const seen = new Set();
    for (const [title, make, wide] of specs) {
      seen.add(title);
      let chart = this.charts.get(title);
      if (!chart) {
        chart = new Chart(title, wide, this.jobs);
        this.charts.set(title, chart);
        chart.box = box;
        box.append(chart.element);
      }
      this.jobs.later(title, () => chart.update(make));
    }
    for (const [title, c] of this.charts) {
      if (c.box === box && !seen.has(title)) {
        c.leave();
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
