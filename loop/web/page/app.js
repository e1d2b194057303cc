"use strict";
// The page: draws the document, and draws it again where colours or data change. A report
// carries its document inside; the dashboard gets it from the server (live.js).

// remembered are the parts that this browser had open; a browser that keeps nothing, or has kept something else, had none.
function remembered() {
  try {
    return new Set((localStorage.getItem("tuner-open") || "").split(","));
  } catch {
    return new Set();
  }
}

function remember(open) {
  try {
    localStorage.setItem("tuner-open", [...open].join());
  } catch {
    // it keeps nothing
  }
}

class Page {
  constructor(root, live) {
    this.root = root;
    this.live = live;
    this.charts = new Map();
    this.parts = {};
    this.folds = new Map();
    colours.forEach(ink); // before there is a page to compute styles of
    this.jobs = new Jobs((busy) => busy ? this.parts.main.setAttribute("aria-busy", "true") : this.parts.main.removeAttribute("aria-busy"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    matchMedia("print").addEventListener("change", (e) => this.paper(e.matches));
    addEventListener("beforeprint", () => this.paper(true));
    addEventListener("afterprint", () => this.paper(false));
  }

  // paper is light, and has no part that is folded or out of sight.
  paper(on) {
    this.folds.forEach((f) => f.paper(on));
    this.jobs.finish();
    this.redraw(true);
  }

  // redraw draws the charts in the colours that hold now.
  redraw(unseen) {
    inks.clear();
    this.charts.forEach((c) => c.draw(unseen));
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
    this.jobs.later("objective", () => this.draw(p.objective, [["Objective: " + d.run.objective, () => objectiveSpec(d), true]]));
    const sections = { best: bestSection, health: healthSection, pictures: picturesSection };
    for (const [name, section] of Object.entries(sections)) this.jobs.later(name, () => this.replace(name, section(d, this)));
    this.foldSection("cost", setsSection, counted(d.sets.length, "control set"));
    this.foldCharts("slices", (d.picture ? d.picture.slices : []).map((s) => ["Model along " + d.run.variables[s.variable].name, () => sliceSpec(d, s)]), "Nothing to draw yet: the model needs a step with valid data.");
    this.foldCharts("knobs", d.steps.length ? d.run.variables.map((v, i) => ["Variable: " + v.name, () => knobSpec(d, i)]) : [], "No step is over yet.");
    this.foldSection("why", whySection, d.cut ? `the deadline cut ${counted(d.cut, "search", "searches")}` : "");
    this.foldSafety(d);
    this.foldSection("events", eventsSection, counted(d.events.length, "event"));
    this.foldSection("about", aboutSection);
    if (!this.live) this.jobs.finish();
  }

  // foldSection tells a folded part how it is made now.
  foldSection(name, section, note) {
    this.folds.get(name).update((body) => this.jobs.later(name, () => renew(body, h("div", null, section(this.document, this)))), note);
  }

  foldSafety(d) {
    this.foldSection("safety", safetySection, d.rules.length ? counted(d.rules.reduce((n, r) => n + r.count, 0), "proposal") + " changed" : "no proposal changed");
  }

  // foldCharts does the same for a part of charts, or of words where there is none yet.
  foldCharts(name, specs, none) {
    this.folds.get(name).update((body) => this.jobs.later(name, () => {
      body.firstChild.hidden = specs.length > 0;
      body.firstChild.textContent = none;
      this.draw(body.lastChild, specs);
    }));
  }

  build(d) {
    const p = this.parts;
    p.heading = h("h1");
    p.sub = h("span", { class: "sub" });
    p.state = h("span", { class: "state", role: "status", id: "state" });
    p.actions = h("span", { class: "live" });
    p.objective = h("div", { class: "figures" });
    const figures = () => [h("p"), h("div", { class: "figures" })];
    p.alarms = h("div", { class: this.live ? "messages" : null });
    if (this.live) p.drawings = new Drawings();
    for (const name of ["headline", "status", "health", "best", "pictures"]) p[name] = h("section");
    for (const f of [new Fold("why", "Why these points"), new Fold("slices", "What the model believes", ...figures()), new Fold("knobs", "Variables, step by step", ...figures()),
      new Fold("cost", "What each control set cost and brought"), new Fold("safety", "Safety layer"), new Fold("events", "Events"), new Fold("about", "About this run")]) this.folds.set(f.id, f);
    if (this.live) this.unfold();
    p.main = h("main", { id: "main", tabindex: "-1" }, p.alarms, p.headline, h("section", { class: "figures-objective", "aria-label": "Objective" }, p.objective), h("div", { class: "pair" }, p.best, p.status), p.health, p.pictures,
      p.drawings && p.drawings.element, [...this.folds.values()].map((f) => f.element));
    this.root.replaceChildren(h("a", { class: "skip", href: "#main" }, "Skip to the run"),
      h("header", { class: "bar" }, h("div", { class: "head" }, p.heading, p.state), p.sub, p.actions), p.main);
  }

  // unfold opens what this browser had open when it last showed a running tuner, and remembers what is opened.
  unfold() {
    const open = remembered();
    for (const { id, details } of this.folds.values()) {
      details.open = open.has(id);
      details.firstChild.addEventListener("click", () => {
        if (!open.delete(id)) open.add(id);
        remember(open);
      });
    }
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
