"use strict";
// The dashboard: fetches the document, keeps it up to date from the server's stream, and
// has the buttons that stop, pause and resume, for whoever came by the link with the token.
//
// The token is kept by the browser for this very address and port alone, which a cookie
// would not be, and is sent with commands, and to ask whether they would be taken.

const tokenMark = "#token=", tokenKey = "tuner-token";

// tokenShown is what a request shows of the token.
function tokenShown() {
  const token = localStorage.getItem(tokenKey);
  return token ? { headers: { Authorization: "Bearer " + token } } : {};
}

class Live {
  constructor(page) {
    this.page = page;
    this.dirty = false;
    this.commands = false;
    setInterval(() => this.refresh(), 1000);
  }

  start() {
    this.takeToken();
    addEventListener("hashchange", () => {
      this.takeToken();
      this.load();
    });
    this.listen();
  }

  // takeToken keeps the token of the link, and leaves the address without it.
  takeToken() {
    if (!location.hash.startsWith(tokenMark)) return;
    localStorage.setItem(tokenKey, location.hash.slice(tokenMark.length));
    history.replaceState(null, "", location.pathname);
  }

  // access asks the server whether commands are taken from this page.
  async access() {
    const answer = await fetch("api/access", tokenShown());
    if (!answer.ok) throw new Error(await answer.text());
    this.commands = (await answer.json()).commands;
    if (!this.commands) localStorage.removeItem(tokenKey); // of a process that has ended
  }

  // load fetches the run. What the stream brings meanwhile waits and is added afterwards,
  // so that no step is lost between the two.
  async load() {
    const waiting = (this.waiting = []);
    let fresh;
    try {
      await this.access();
      fresh = await this.fetchRun(waiting);
    } catch (e) {
      if (waiting !== this.waiting) return; // a newer one is under way
      this.lost(e.message);
      setTimeout(() => this.load(), 2000);
      return;
    }
    if (waiting !== this.waiting) return;
    this.waiting = null;
    this.document = fresh;
    waiting.forEach((add) => add());
    this.dirty = false;
    this.page.show(this.document);
    this.buttons();
    this.allow();
    this.status(this.document.status);
  }

  // fetchRun gives the document. It comes in lines, the first without steps: they are read a line in a task,
  // behind the first screen.
  async fetchRun(waiting) {
    const answer = await fetch("api/document?lines"), text = await answer.text();
    if (!answer.ok) throw new Error(text);
    const [head, ...parts] = text.split("\n"), d = JSON.parse(head);
    if (parts.length && waiting === this.waiting) this.page.begin(d);
    for (const part of parts) {
      await new Promise(soon);
      d.steps.push(...JSON.parse(part));
    }
    return d;
  }

  // later carries out now what changes the document, or when it has come.
  later(add) {
    if (this.waiting) this.waiting.push(add);
    else if (this.document) add();
  }

  // listen follows the stream. The browser connects again by itself; each time it does, the
  // run is fetched anew.
  listen() {
    const s = (this.stream = new EventSource("api/stream"));
    s.addEventListener("hello", () => this.load());
    s.addEventListener("status", (e) => this.status(JSON.parse(e.data)));
    s.addEventListener("step", (e) => this.later(() => this.take(JSON.parse(e.data))));
    s.addEventListener("picture", (e) => this.later(() => this.take(JSON.parse(e.data))));
    s.addEventListener("story", (e) => this.later(() => this.tell(JSON.parse(e.data))));
    s.addEventListener("again", () => this.load());
    s.addEventListener("error", () => {
      this.lost("no connection to the tuner");
      if (s.readyState === EventSource.CLOSED) setTimeout(() => this.listen(), 3000); // the server has refused: try anew later
    });
  }

  tell(event) {
    const known = this.document.events.slice(-100).some((e) => e.wall_ms === event.wall_ms && e.kind === event.kind && e.message === event.message);
    if (known) return; // it came with the document
    this.document.events.push(event);
    this.dirty = true;
  }

  take(u) {
    const d = this.document;
    if (u.total < d.total) return; // older than the document
    if (u.step && (!d.steps.length || u.step.n > d.steps[d.steps.length - 1].n)) d.steps.push(u.step);
    if (u.stride !== d.stride || d.steps.length > 4000) { // the server has thinned out: so do we
      const newest = d.steps[Math.max(d.steps.length - 1000, 0)].n;
      d.steps = d.steps.filter((s) => s.n >= newest || s.n % u.stride === 0 || (s.initial && s.n <= 200));
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
    if (this.document.status.state === "ended") {
      this.answer.textContent = "The tuner has exited: this is how the run ended.";
      return;
    }
    chip.className = "state bad";
    chip.textContent = "connection lost: what is shown is old";
    document.title = "(lost) " + this.document.run.name;
  }

  status(s) {
    if (!s || !this.document || !this.stop) return;
    this.document.status = s;
    const p = this.page.parts, level = s.dry_run && s.state === "running" ? "watch" : stateLevels[s.state] || "unknown";
    const text = stateText(s, this.document);
    if (p.state.textContent !== text) p.state.title = p.state.textContent = text; // a reader hears changes only
    p.state.className = "state " + level;
    document.title = `${text} · ${this.document.run.name}`;
    const over = ["ended", "ending"].includes(s.state);
    this.act.button.disabled = s.state === "ended";
    this.stop.disabled = s.state === "ended" || s.state === "stopped"; // while it comes to rest, a stop still asks for the safe states
    this.pause.disabled = over || s.state !== "running" || s.dry_run;
    this.resume.disabled = over || !["held", "fallen back", "disarmed", "armed"].includes(s.state) || s.dry_run;
    this.reset.disabled = !["tripped", "stopped"].includes(s.state);
    const alarm = notices(s).filter(([kind]) => kind === "bad").map(([, heading]) => heading).join("; ");
    if (this.alarm.textContent !== alarm) this.alarm.textContent = alarm; // without the times, which change every second
    const told = notices(s);
    this.page.replace("alarms", h("div", { class: "messages " + (told.length ? (alarm ? "bad" : "watch") : "quiet"), role: "region", "aria-label": "Messages", tabindex: "0" },
      told.length ? told.map(notice) : h("p", null, "✓ Nothing needs you.")));
    this.page.replace("headline", headlineSection(this.document));
    const d = this.document, sections = { status: () => statusSection(s), best: () => bestSection(d), health: () => healthSection(d) };
    for (const [name, section] of Object.entries(sections)) this.page.jobs.later(name, () => this.page.replace(name, section()));
    this.page.foldSafety(d);
  }

  buttons() {
    if (this.stop) return;
    const make = (name, label, extra) => h("button", { type: "button", id: "button-" + name, onclick: () => this.command(name), ...extra }, label);
    this.pause = make("pause", "Pause");
    this.resume = make("resume", "Resume");
    this.reset = make("reset", "Reset", { title: "When the cause has gone. Nothing moves." });
    this.stop = make("stop", "Stop to safe", { class: "stop", "aria-keyshortcuts": "Alt+S", title: "Brings every actuator to its safe state at once (Alt+S)" });
    this.act = new Act(this);
    this.answer = h("p", { role: "status", id: "answer", tabindex: "0", "aria-label": "Answers to commands" }, "Answers to commands appear here.");
    this.alarm = h("span", { class: "heard", role: "alert", id: "alarm" });
    this.readOnly = h("span", { id: "read-only", hidden: "" }, "Read-only: to send commands, open the link that tuner run printed");
    this.page.parts.actions.append(this.alarm, this.stop, this.pause, this.resume, this.reset, this.act.button, this.act.panel, this.readOnly);
    this.page.root.append(h("footer", null, this.answer));
    document.addEventListener("keydown", (e) => {
      if (!e.altKey || e.ctrlKey || e.metaKey || !["KeyS", "KeyA"].includes(e.code)) return;
      e.preventDefault();
      if (!this.commands) return;
      if (e.code === "KeyS" && !this.stop.disabled) this.command("stop");
      if (e.code === "KeyA" && !this.act.button.disabled && this.act.panel.hidden) this.act.open();
    });
  }

  // allow shows what may be pressed, or that nothing may.
  allow() {
    for (const button of [this.pause, this.resume, this.stop, this.reset, this.act.button]) button.hidden = !this.commands;
    if (!this.commands) this.act.panel.hidden = true;
    this.readOnly.hidden = this.commands;
  }

  // post sends a command, or the question what it would do, and gives the answer.
  async post(way, name, args) {
    const r = await fetch(`api/${way}/${name}`, { method: "POST", ...tokenShown(), body: args ? JSON.stringify({ args }) : null });
    if (r.status === 401) this.load(); // shows what may be done now
    if (!(r.headers.get("Content-Type") || "").startsWith("application/json")) throw new Error(await r.text());
    return r.json();
  }

  async command(name, args) {
    this.answer.textContent = name + " ...";
    try {
      const a = await this.post("command", name, args);
      this.answer.textContent = a.ok ? `${name}: done. ${args ? a.message : ""}` : `${name} refused: ${a.message}`;
      if (a.status) this.status(a.status);
      return a;
    } catch (e) {
      this.answer.textContent = `${name} FAILED: ${e.message}. Use the instrument's own stop.`;
    }
    return null;
  }
}

// notices tell what a person should know before any number: [level, heading, text].
function notices(s) {
  const out = [], words = (causes) => causes.map((c) => (c.rule === "stop" ? "an operator asked for the stop" : c.text) + (c.latched ? ", and stays so until you press Reset" : "")).join("; ");
  if (s.error) out.push(["bad", "Error", s.error]);
  if (s.causes.length) out.push(["bad", "Why it does not run", words(s.causes) + (s.first_out.length && words(s.first_out) !== words(s.causes) ? ". First: " + words(s.first_out) : "")]);
  for (const d of s.devices) {
    if (d.out) out.push(["bad", `Device ${d.name} fails`, `${d.trouble || "no answer"}, for ${seconds(d.out_for_s)}${d.held ? "; the run is held for it" : ""} (${d.failures} failures, ${d.retries} are tolerated in ${seconds(d.window_s)})`]);
    else if (d.failures) out.push(["watch", `Device ${d.name} has failed`, `${d.failures} times in the last ${seconds(d.window_s)} (${d.retries} are tolerated), the last time: ${d.trouble}`]);
  }
  if (s.disk.held) out.push(["bad", "The record cannot be kept", `${s.disk.problem}; ${s.disk.due} records wait, and nothing moves meanwhile`]);
  else if (known(s.disk.free_bytes) && s.disk.free_bytes < 4 * s.disk.least_bytes) out.push(["watch", "The disk is filling up", `${num(s.disk.free_bytes / 1e6, 3)} MB are free; the run is held below ${num(s.disk.least_bytes / 1e6, 3)} MB`]);
  if (s.phase === "waiting for resume") out.push(["watch", "Waiting for Resume", "nothing is driven until you press Resume"]);
  else if (s.paused && s.state === "held") out.push(["watch", "Paused by an operator", "every actuator stays where it is until you press Resume"]);
  if (s.failures) out.push(["watch", "Steps fail", `${s.failures} in a row` + (s.failure_limit ? ` of ${s.failure_limit} that are tolerated` : "") + (s.outcome && s.outcome.problem ? `; the last one: ${s.outcome.problem}` : "")]);
  if (s.decision && s.decision.cuts) out.push(["watch", "Decisions are cut", `the deadline of ${num(1000 * s.decision.deadline_s)} ms has cut ${counted(s.decision.cuts, "search", "searches")} for the next setting since this start; raise deadline in [policy] (tuner check says how far)`]);
  if (s.dry_run) out.push(["watch", "Dry run", "settings are proposed and sensors are read; nothing is written to the instrument"]);
  if (s.comparison && s.comparison.running) out.push(["told", "Verifying", `the search is over; the recommended and the starting setting are measured in turn. Pair ${s.comparison.pair} of ${s.comparison.pairs}: now the ${s.comparison.setting === "start" ? "starting" : "recommended"} setting. These steps are no part of the figures below`]);
  return out;
}

// notice is one of them as an element.
const notice = ([level, heading, text]) => h("div", { class: "notice " + level }, h("strong", null, heading + ": "), text + ".");

function statusSection(s) {
  const out = [h("h2", { id: "now" }, "Now")];
  const facts = [["Step", `${s.step}, ${s.phase}` + (known(s.phase_for_s) ? ` for ${seconds(s.phase_for_s)}` : "")], ["Concluded", (s.step_limit && !s.dry_run ? `${s.steps} of ${s.step_limit}` : String(s.steps)) + " steps of the search"]];
  if (s.budget || s.spent || s.cost_unit) facts.push(["Spent", s.budget ? `${num(s.spent)} of ${quantity(s.budget, s.cost_unit)}` : quantity(s.spent, s.cost_unit)]);
  facts.push(["Running for", seconds(s.elapsed_s) + (s.time_limit_s ? ` of ${seconds(s.time_limit_s)}` : "")]);
  if (!s.comparison) facts.push(["Left, at this pace", seconds(s.left_s)]);
  out.push(h("dl", { class: "facts" }, facts.flatMap(([k, v]) => [h("dt", null, k), h("dd", null, v)])));
  const asked = (v, i) => (s.decision && v.driven ? s.decision.requested[i] : null);
  out.push(table("Variables now", [["Variable"], ["Requested", true], ["Allowed", true], ["Set to", true], ["Reads", true]],
    s.variables.map((v, i) => [named(v), num(asked(v, i)), v.driven ? num(v.wanted) : v.released ? "let go" : "left alone", num(v.setpoint), num(v.readback) + (v.age_s > 10 ? `, ${seconds(v.age_s)} ago` : "")])));
  out.push(table("Sensors now", [["Sensor"], ["Value", true], ["Age", true], ["Usable"]],
    s.sensors.map((v) => [v.name, quantity(v.value, v.unit), seconds(v.age_s), v.valid ? "yes" : h("span", { class: s.state === "running" ? "bad" : null }, "no: " + (v.odd ? v.odd : known(v.value) ? "too old" : "no value yet"))])));
  if (s.constraints.length) {
    out.push(table("Constraints now", [["Sensor"], ["Bounds", true], ["Value", true], ["Margin", true]],
      s.constraints.map((c) => [c.sensor, between(c.low, c.high, c.unit), quantity(c.value, c.unit), c.margin < 0 ? h("span", { class: "bad" }, quantity(c.margin, c.unit) + ": outside") : quantity(c.margin, c.unit)])));
  }
  if (s.doses.length) {
    out.push(table("Doses", [["Variable"], ["Given", true], ["Limit of the run", true]], s.doses.map((v) => [v.variable, quantity(v.total, v.unit) + (v.unknown ? " (the last one: unknown)" : ""), known(v.limit) ? quantity(v.limit, v.unit) : "none"])));
  }
  return h("section", { "aria-labelledby": "now" }, out);
}
