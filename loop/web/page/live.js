"use strict";
// The dashboard: fetches the document, keeps it up to date from the server's stream, and
// has the buttons that stop, pause and resume.

const stateLevels = { running: "good", armed: "watch", disarmed: "watch", starting: "watch", ending: "watch", ended: "unknown", held: "watch",
  "fallen back": "bad", tripped: "bad", stopped: "bad" };

class Live {
  constructor(page) {
    this.page = page;
    this.dirty = false;
    setInterval(() => this.refresh(), 1000);
  }

  async start() {
    try {
      const answer = await fetch("api/document");
      if (!answer.ok) throw new Error(await answer.text());
      this.document = await answer.json();
    } catch (e) {
      this.lost(e.message);
      setTimeout(() => this.start(), 2000);
      return;
    }
    this.page.show(this.document);
    this.buttons();
    this.status(this.document.status);
    if (!this.stream) this.listen();
  }

  // listen follows the stream. The browser connects again by itself; what was missed
  // meanwhile is fetched.
  listen() {
    const s = (this.stream = new EventSource("api/stream"));
    let opened = false;
    s.addEventListener("hello", () => {
      if (opened || this.gone) this.start();
      opened = true;
      this.gone = false;
    });
    s.addEventListener("status", (e) => this.status(JSON.parse(e.data)));
    s.addEventListener("step", (e) => this.take(JSON.parse(e.data)));
    s.addEventListener("picture", (e) => this.take(JSON.parse(e.data)));
    s.addEventListener("story", (e) => {
      this.document.events.push(JSON.parse(e.data));
      this.dirty = true;
    });
    s.addEventListener("again", () => this.start());
    s.addEventListener("error", () => {
      this.gone = true;
      this.lost("no connection to the tuner");
      if (s.readyState === EventSource.CLOSED) { // the server has refused: try anew later
        this.stream = null;
        setTimeout(() => this.start(), 3000);
      }
    });
  }

  take(u) {
    const d = this.document;
    if (u.step) d.steps.push(u.step);
    if (u.stride !== d.stride) { // the server has thinned out: so do we
      const newest = d.steps[Math.max(d.steps.length - 1000, 0)].n;
      d.steps = d.steps.filter((s) => s.n >= newest || s.n % u.stride === 0);
    }
    Object.assign(d, { total: u.total, stride: u.stride, sets: u.sets, rules: u.rules, health: u.health });
    if (u.picture) d.picture = u.picture;
    this.dirty = true;
  }

  // refresh draws what has come since; hidden pages are not drawn.
  refresh() {
    if (!this.dirty || document.hidden || !this.document) return;
    this.dirty = false;
    this.page.show(this.document);
  }

  lost(why) {
    const chip = this.page.parts.state;
    if (!chip) {
      document.querySelector("[role=status]").textContent = "No answer from the tuner (" + why + "): trying again.";
      return;
    }
    chip.className = "state bad";
    chip.textContent = "connection lost: what is shown is old";
    document.title = "(lost) " + this.document.run.name;
  }

  status(s) {
    if (!s) return;
    this.document.status = s;
    const p = this.page.parts, level = stateLevels[s.state] || "unknown";
    const text = (s.paused ? "paused" : s.state) + (s.dry_run ? ", dry run" : "");
    if (p.state.textContent !== text) p.state.textContent = text; // a reader hears changes only
    p.state.className = "state " + level;
    document.title = `${text} · ${this.document.run.name}`;
    const over = ["ended", "ending"].includes(s.state);
    this.stop.disabled = over || s.state === "stopped";
    this.pause.disabled = over || s.state !== "running" || s.dry_run;
    this.resume.disabled = over || !["held", "fallen back", "disarmed", "armed"].includes(s.state) || s.dry_run;
    this.reset.hidden = !["tripped", "stopped"].includes(s.state);
    this.page.replaceStatus(statusSection(s));
  }

  buttons() {
    if (this.stop) return;
    const make = (name, label, extra) => h("button", { type: "button", id: "button-" + name, onclick: () => this.command(name), ...extra }, label);
    this.pause = make("pause", "Pause");
    this.resume = make("resume", "Resume");
    this.reset = make("reset", "Reset the latch", { hidden: "", title: "After the cause has gone. It starts nothing." });
    this.stop = make("stop", "Stop to safe", { class: "stop", "aria-keyshortcuts": "Alt+S", title: "Brings every actuator to its safe state at once (Alt+S)" });
    this.answer = h("span", { role: "status", id: "answer" });
    this.page.parts.actions.append(this.reset, " ", this.pause, " ", this.resume, " ", this.stop, " ", this.answer);
    document.addEventListener("keydown", (e) => {
      if (e.altKey && !e.ctrlKey && !e.metaKey && e.code === "KeyS") {
        e.preventDefault();
        if (!this.stop.disabled) this.command("stop");
      }
    });
  }

  async command(name) {
    this.answer.textContent = name + " ...";
    try {
      const r = await fetch("api/command/" + name, { method: "POST" });
      const a = await r.json();
      this.answer.textContent = a.ok ? name + ": done" : `${name} refused: ${a.message}`;
      this.status(a.status);
    } catch (e) {
      this.answer.textContent = `${name} FAILED: ${e.message}. Use the instrument's own stop.`;
    }
  }
}

function statusSection(s) {
  const out = [h("h2", { id: "now" }, "Now")];
  if (s.causes && s.causes.length) {
    out.push(h("div", { class: "notice", role: "alert" }, h("strong", null, "Why it does not run: "), s.causes.map((c) => c.text + (c.latched ? " (latched)" : "")).join("; "),
      s.first_out && s.first_out.length ? h("p", null, "First: " + s.first_out.map((c) => c.text).join("; ")) : null));
  }
  if (s.error) out.push(h("div", { class: "notice", role: "alert" }, h("strong", null, "Error: "), s.error));
  const facts = [["Step", `${s.step}, ${s.phase} for ${seconds(s.phase_for_s)}`], ["Concluded", s.step_limit ? `${s.steps} of ${s.step_limit}` : String(s.steps)],
    ["Spent", s.budget ? `${num(s.spent)} of ${quantity(s.budget, s.cost_unit)}` : quantity(s.spent, s.cost_unit)],
    ["Running for", seconds(s.elapsed_s)], ["Left, at this pace", seconds(s.left_s)]];
  out.push(h("dl", { class: "facts" }, facts.flatMap(([k, v]) => [h("dt", null, k), h("dd", null, v)])));
  out.push(table("Variables now", [["Variable"], ["Wanted", true], ["Setpoint", true], ["Read back", true], ["Age", true]],
    s.variables.map((v) => [v.name, v.driven ? quantity(v.wanted, v.unit) : v.released ? "let go" : "left alone", quantity(v.setpoint, v.unit), quantity(v.readback, v.unit), seconds(v.age_s)])));
  out.push(table("Sensors now", [["Sensor"], ["Value", true], ["Age", true], ["Good"]],
    s.sensors.map((v) => [v.name, quantity(v.value, v.unit), seconds(v.age_s), v.valid ? "yes" : "no"])));
  if (s.constraints.length) {
    out.push(table("Constraints now", [["Sensor"], ["Bounds", true], ["Value", true], ["Margin", true]],
      s.constraints.map((c) => [c.sensor, `${num(c.low)} to ${quantity(c.high, c.unit)}`, quantity(c.value, c.unit), h("span", { class: c.margin < 0 ? "bad" : "" }, quantity(c.margin, c.unit))])));
  }
  if (s.doses.length) {
    out.push(table("Doses", [["Variable"], ["Given", true], ["Limit of the run", true]], s.doses.map((v) => [v.variable, quantity(v.total, v.unit) + (v.unknown ? " (the last one: unknown)" : ""), quantity(v.limit, v.unit)])));
  }
  return h("section", { "aria-labelledby": "now" }, out);
}
