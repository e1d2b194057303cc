"use strict";
// Figures as tuner plot draws them: those that a report carries.

// drawn is a figure of an SVG text, with a button that saves it.
function drawn(base, kind, title, svg) {
  const drawing = document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true);
  drawing.setAttribute("aria-label", title);
  return h("figure", { id: "picture-" + kind }, drawing,
    h("div", { class: "tools" }, h("button", { type: "button", onclick: () => save(`${base}-${kind}.svg`, "image/svg+xml", svg) }, "Save SVG")));
}

// picturesSection shows the figures that a report carries; a live page has none.
function picturesSection(d) {
  if (!d.figures || !d.figures.length) return h("section");
  const of = (folded) => h("div", { class: "pictures" }, d.figures.filter((f) => Boolean(f.folded) === folded).map((f) => drawn(slug(d.run.name), f.kind, f.title, f.svg)));
  return h("section", { "aria-labelledby": "pictures" }, h("h2", { id: "pictures" }, "Pictures"), of(false),
    d.figures.some((f) => f.folded) ? h("details", null, h("summary", null, "The model over other pairs of variables"), of(true)) : null);
}

// choice is a labelled list to choose from; pairs are [value, text].
function choice(label, pairs, changed) {
  const list = h("select", { onchange: changed }, pairs.map(([value, text]) => h("option", { value }, text)));
  return [list, h("label", null, label + " ", list)];
}

// Drawings are the figures that the server draws when a viewer asks for one, and the runs of its computer: both folded, and
// asked for when they are opened.
class Drawings {
  constructor() {
    this.box = h("div", { class: "drawing" });
    this.said = h("p", { role: "status" });
    this.controls = h("p", { class: "choices" });
    this.folded = h("details", { id: "drawings", ontoggle: () => this.open() }, h("summary", null, "Figures of the model, drawn now"), this.controls, this.said, this.box);
    this.runs = h("div");
    this.others = h("details", { id: "runs", ontoggle: () => this.others.open && this.list() }, h("summary", null, "Runs of this computer"), this.runs);
    this.element = h("section", null, this.folded, this.others);
  }

  // knows takes the run that is shown.
  knows(d) {
    this.document = d;
  }

  async open() {
    if (!this.folded.open || this.kinds) return;
    try {
      this.kinds = await (await fetch("api/figures")).json();
      this.choose();
      await this.draw();
    } catch (e) {
      this.kinds = null;
      this.said.textContent = "No figure: " + e.message;
    }
  }

  // choose makes the lists; those that a kind does not have are hidden.
  choose() {
    const draw = () => this.draw(), words = (list) => [["", "default"], ...list.map((w) => [w, w])], variables = words(this.document.run.variables.map((v) => v.name));
    const of = this.kinds.flatMap((k) => k.of), over = this.kinds.flatMap((k) => k.over);
    this.lists = {};
    for (const [name, label, pairs] of [["kind", "Figure", this.kinds.map((k) => [k.name, `${k.name}: ${k.about}`])], ["x", "along", variables], ["y", "upward", variables], ["of", "of", of.map((w) => [w, w])], ["over", "over", over.map((w) => [w, w])]]) {
      const [list, shown] = choice(label, pairs, draw);
      this.lists[name] = { list, shown };
      this.controls.append(shown, " ");
    }
    this.controls.append(h("button", { type: "button", onclick: draw }, "Draw again"));
  }

  // draw asks until the figure is there; a newer question ends an older one.
  async draw() {
    const kind = this.kinds.find((k) => k.name === this.lists.kind.list.value), q = new URLSearchParams({ kind: kind.name });
    const has = { kind: true, x: kind.pair, y: kind.pair, of: kind.of.length, over: kind.over.length };
    for (const [name, { list, shown }] of Object.entries(this.lists)) {
      shown.hidden = !has[name];
      if (has[name] && list.value) q.set(name, list.value);
    }
    const asked = (this.asked = q.toString());
    this.said.textContent = "Drawing ...";
    for (;;) {
      let answer, text;
      try {
        answer = await fetch("api/figure?" + asked);
        text = await answer.text();
      } catch (e) {
        answer = { ok: false, status: 0 };
        text = e.message;
      }
      if (asked !== this.asked) return;
      if (answer.status === 202) { // it is being drawn
        await new Promise((r) => setTimeout(r, 1000));
        continue;
      }
      this.said.textContent = answer.ok ? "" : text;
      this.box.replaceChildren(answer.ok ? drawn(slug(this.document.run.name), kind.name, `${kind.name}: ${kind.about}`, text) : "");
      return;
    }
  }

  async list() {
    try {
      const get = async (path) => {
        const answer = await fetch(path, tokenShown());
        if (!answer.ok && answer.status !== 403) throw new Error(await answer.text());
        return answer.ok ? answer.json() : null;
      };
      const [runs, past] = [await get("api/runs"), await get("api/past")];
      const head = [["Run"], ["Kind"], ["State"], ["Steps", true], ["Best, by the model", true], ["When (UTC)"]];
      const rows = [...runs.map(goingRow), ...(past || []).map(pastRow)], two = (past || []).filter((r) => r.report).slice(0, 2).map((r) => r.journal);
      this.runs.replaceChildren(rows.length ? table("Runs of this computer", head, rows) : h("p", null, "None within reach of this one."),
        past ? "" : h("p", null, "To list ended runs as well, open the link that tuner run printed."),
        h("div", { class: "tools" }, h("button", { type: "button", onclick: () => this.list() }, "List again")),
        h("p", null, "Two or more of them, side by side: ", h("code", null, "tuner report " + (two.length > 1 ? two.join(" ") : "a.db b.db"))));
    } catch (e) {
      this.runs.replaceChildren(h("p", null, "The list is not available: " + e.message));
    }
  }
}

// goingRow is a run that goes on, in the list of runs.
function goingRow(r) {
  const s = r.status, name = r.page && !r.own ? h("a", { href: r.page }, r.name) : r.own ? `${r.name} (this page)` : r.name, kind = modeWords[r.mode] || r.mode;
  if (!s) return [name, kind, r.error, "-", "-", "now"];
  return [name, kind, s.paused && s.state === "held" ? "paused" : s.state, s.step_limit ? `${Math.min(s.step, s.step_limit)} of ${s.step_limit}` : String(s.step),
    s.recommended ? quantity(s.recommended.mean, s.objective.unit) : "-", "now"];
}

// pastRow is an ended run, with its report.
function pastRow(r) {
  if (r.error) return [r.journal, "-", "cannot be read: " + r.error, "-", "-", when(r.at_ms)];
  return [h("a", { href: r.report, target: "_blank", title: r.journal }, r.name), modeWords[r.mode] || r.mode, r.state, String(r.steps), known(r.best) ? quantity(r.best, r.unit) : "-", when(r.at_ms)];
}
