"use strict";
// The panel by which a person acts on a run: a form for each action, what it would do by the
// server's word, and only then the button that sends it. Nothing in it moves or changes but by
// the person's own hand, and the stop beside it stays in reach.

// A field reads what is typed: an empty one is left out.
const field = (label, name, extra) => h("label", null, h("span", null, label), h("input", { name, autocomplete: "off", spellcheck: "false", ...extra }));
const numberField = (label, name, extra) => field(label, name, { inputmode: "decimal", ...extra });

// written are the fields of a form that something was typed into, by their names.
const written = (form) => Object.fromEntries([...new FormData(form)].filter(([k, v]) => v.trim() !== "" && k !== "reason" && k !== "action").map(([k, v]) => [k, v.trim()]));

function toNumber(name, text) {
  const x = Number(text.replace(",", "."));
  if (!Number.isFinite(x)) throw new Error(`${name}: ${text} is no number`);
  return x;
}

// stepList reads 41,57 and 41-44.
function stepList(text) {
  const all = [];
  for (const word of text.split(/[,\s]+/).filter(Boolean)) {
    const [, from, to] = /^(\d+)(?:-(\d+))?$/.exec(word) || [];
    if (!from || Number(to || from) - from > 9999) throw new Error(`${word} is to be a step, or two with - between them`);
    for (let n = Number(from); n <= Number(to || from); n++) all.push(n);
  }
  if (!all.length) throw new Error("say which steps, such as 41,57 or 41-44");
  return [...new Set(all)];
}

// settable are the variables that a person may set, each with how it stands.
const settable = (d) => d.run.variables.map((v, i) => ({ ...v, now: (d.status && d.status.variables[i]) || {}, best: d.picture && d.picture.best ? d.picture.best.x[i] : null })).filter((v) => v.actuated);
const rangeOf = (v) => [v.now.low ?? v.low, v.now.high ?? v.high];
const valueHint = (v) => `${num(rangeOf(v)[0])} to ${quantity(rangeOf(v)[1], v.unit)}; now ${num(v.now.wanted ?? v.now.readback)}` + (known(v.now.frozen) ? ", frozen" : "");
const values = (form) => Object.fromEntries(Object.entries(written(form)).map(([k, v]) => [k, toNumber(k, v)]));

function rangeFields(d) {
  return settable(d).map((v) => h("fieldset", null, h("legend", null, `${named(v)}: now ${between(...rangeOf(v), v.unit)}` + (known(v.hard_low) ? `, hard limits ${between(v.hard_low, v.hard_high, v.unit)}` : "")),
    numberField("From", v.name + " from", { placeholder: num(rangeOf(v)[0]) }), numberField("To", v.name + " to", { placeholder: num(rangeOf(v)[1]) })));
}

function rangeArgs(form, d) {
  const typed = values(form), ranges = {};
  for (const v of settable(d)) {
    const from = typed[v.name + " from"], to = typed[v.name + " to"], [low, high] = rangeOf(v);
    if (from !== undefined || to !== undefined) ranges[v.name] = [from ?? low, to ?? high];
  }
  if (!Object.keys(ranges).length) throw new Error("say a new end of a range");
  return { ranges };
}

const oneOf = (typed, what) => {
  if (!Object.keys(typed).length) throw new Error(what);
  return typed;
};

// keysShown are those that change has fields for.
const keysShown = [["stop.steps", "Steps of the search"], ["stop.cost", "Budget of the search"], ["stop.time", "Time of the run, such as 8h"], ["stop.target", "Target of the bound"],
  ["stop.no_improvement.steps", "Steps without a better bound"], ["policy.risk", "Price of the noise (risk)"], ["cost.per_step", "Cost of a step"], ["cost.per_shot", "Cost of a shot"]];
const literal = (text) => (/^(["'[{]|[-+]?[\d.]+(e[-+]?\d+)?$|(true|false)$)/i.test(text) ? text : JSON.stringify(text));

// actions are what a person may ask for: [command, label, what it is for, fields, arguments].
const actions = [
  ["try", "Try a setting", "It is measured as the next step, learnt and charged like any other. What you leave empty takes the recommended setting's value, or what you choose below.", (d) => [...settable(d).map((v) => h("div", null, numberField(named(v), "x " + v.name, { placeholder: known(v.best) ? "recommended " + num(v.best) : "as it is" }), h("small", null, valueHint(v)))),
    h("label", null, h("span", null, "The others"), h("select", { name: "rest" }, h("option", { value: "recommended" }, "as recommended"), h("option", { value: "present" }, "stay as they are"))),
    numberField("Shots a step", "shots", { placeholder: "as in the file" }), numberField("In how many steps", "times", { placeholder: "1" })],
  (form, d) => {
    const { rest, shots, times, ...typed } = written(form), args = { values: {}, rest };
    for (const [k, v] of Object.entries(typed)) args.values[k.slice(2)] = toNumber(k.slice(2), v);
    oneOf(args.values, "say a value of a variable");
    if (shots) args.shots = toNumber("shots", shots);
    if (times) args.times = toNumber("times", times);
    return args;
  }],
  ["strike", "Strike steps", "The model forgets them from the next decision on; the record keeps them, and what they cost stays paid.", (d) => [field("Steps", "steps", { placeholder: "41,57 or 41-44" }),
    h("label", null, h("span", null, "or all in which this sensor was at an end of its range"), h("select", { name: "saturated" }, h("option", { value: "" }, "none"), d.run.sensors.map((s) => h("option", { value: s.name }, s.name))))],
  (form) => { const w = written(form); return w.saturated && !w.steps ? { saturated: w.saturated } : { steps: stepList(w.steps || "") }; }],
  ["unstrike", "Reinstate struck steps", "The model learns from them again, as if they had never been struck.", (d) => {
    const struck = d.steps.filter((s) => s.struck).map((s) => s.n);
    return [field("Steps", "steps", { placeholder: "41,57 or 41-44" }), h("small", null, struck.length ? "Struck are " + struck.slice(-40).join(", ") : "No step that is shown is struck.")];
  }, (form) => ({ steps: stepList(written(form).steps || "") })],
  ["narrow", "Narrow a range", "Decisions keep to the new range. A step under way keeps its destination; what was measured outside stays in the model.", rangeFields, rangeArgs],
  ["widen", "Widen a range", "Within the hard limits, which change only in the file.", rangeFields, rangeArgs],
  ["freeze", "Freeze a variable", "It goes to the value with the next step and is kept there; no decision varies it.", (d) => settable(d).map((v) => h("div", null, numberField(named(v), v.name, { placeholder: num(v.now.readback) }), h("small", null, valueHint(v)))),
    (form) => ({ values: oneOf(values(form), "say a value to keep a variable at") })],
  ["free", "Tune a frozen variable again", "It is varied again, within its range.", (d) => {
    const all = settable(d).filter((v) => known(v.now.frozen));
    return all.length ? all.map((v) => h("label", { class: "tick" }, h("input", { type: "checkbox", name: v.name }), h("span", null, `${v.name}, frozen at ${quantity(v.now.frozen, v.unit)}`))) : [h("p", null, "No variable is frozen.")];
  }, (form) => ({ variables: Object.keys(oneOf(written(form), "say which variable")) })],
  ["change", "Extend, or change stop conditions, risk and costs", "Fill in only what shall change; none removes a key. To go on with an ended run: tuner run --extend", () => keysShown.map(([key, label]) => field(`${label} (${key})`, key, { placeholder: "as it is" })),
    (form) => ({ set: Object.fromEntries(Object.entries(oneOf(written(form), "fill in what shall change")).map(([k, v]) => [k, v === "none" ? "" : literal(v)])) })],
  ["set-best", "End the search at the best setting", "As if a stop condition held.", () => [], () => ({})],
  ["end", "End the run", "The quiet way: each actuator goes to its shutdown state. Stop to safe is the quick one.", () => [], () => ({})],
];

class Act {
  constructor(live) {
    this.live = live;
    this.button = h("button", { type: "button", id: "button-act", "aria-expanded": "false", "aria-controls": "act", "aria-keyshortcuts": "Alt+A", title: "Try, strike, narrow, freeze and more (Alt+A)", onclick: () => (this.panel.hidden ? this.open() : this.close()) }, "Act …");
    this.what = h("select", { name: "action", id: "act-what", onchange: () => this.choose() }, actions.map(([command, label]) => h("option", { value: command }, label)));
    this.about = h("p", { id: "act-about" });
    this.fields = h("div", { class: "act-fields" });
    this.said = h("div", { id: "act-said", role: "status", tabindex: "-1", "aria-label": "What it does" });
    this.send = h("button", { type: "button", id: "act-send", disabled: "", onclick: () => this.go() }, "Send");
    this.form = h("form", { id: "act-form", autocomplete: "off", oninput: () => this.forget(), onsubmit: (e) => { e.preventDefault(); this.look(); } },
      h("label", null, h("span", null, "What"), this.what), this.about, this.fields, field("Why, for the record", "reason", { maxlength: "200" }));
    this.panel = h("section", { id: "act", hidden: "", "aria-label": "Act on the run", onkeydown: (e) => { if (e.key === "Escape") this.close(); } },
      this.form, this.said, h("div", { class: "act-buttons" }, h("button", { type: "submit", form: "act-form", id: "act-look" }, "What does it do?"), this.send, h("button", { type: "button", id: "act-close", onclick: () => this.close() }, "Close")));
  }

  open() {
    this.panel.hidden = false;
    this.button.setAttribute("aria-expanded", "true");
    this.choose();
    this.what.focus();
  }

  close() {
    this.panel.hidden = true;
    this.button.setAttribute("aria-expanded", "false");
    this.button.focus();
  }

  // choose shows the fields of the chosen action.
  choose() {
    const [, , about, fields] = this.action();
    this.about.textContent = about;
    this.fields.replaceChildren(...fields(this.live.document));
    this.forget();
  }

  action() { return actions.find(([command]) => command === this.what.value); }

  // forget takes back what the server has said: it was of another form.
  forget() {
    this.ready = null;
    this.send.disabled = true;
    this.say("", h("p", null, "Nothing is sent yet. Enter shows what it would do."));
  }

  say(level, ...content) {
    this.said.className = level;
    this.said.replaceChildren(...content);
    this.said.scrollTop = 0;
  }

  refuse(text) {
    this.say("bad", h("p", null, h("strong", null, "Refused: "), text));
    this.said.focus();
  }

  // look asks the server what the action would do.
  async look() {
    const [command, label, , , read] = this.action();
    try {
      const args = read(this.form, this.live.document), reason = this.form.elements.reason.value.trim();
      if (reason) args.reason = reason;
      const asked = (this.asking = {}), f = await this.live.post("preview", command, args);
      if (asked !== this.asking || this.action()[0] !== command) return;
      if (!f.ok) return this.refuse(f.message);
      this.ready = { command, args: f.args || args };
      const moves = f.moves.map((m) => h("li", null, h("strong", null, m.variable), `: ${quantity(m.from, m.unit)} → ${m.text}`));
      this.say("told", moves.length ? h("ul", { "aria-label": "What moves" }, moves) : h("p", null, "No actuator moves."), h("p", null, h("strong", null, label + ": "), f.words + "."));
      this.send.disabled = false;
      this.said.focus();
    } catch (e) {
      this.refuse(e.message);
    }
  }

  // go sends what was shown.
  async go() {
    const ready = this.ready;
    if (!ready) return;
    this.ready = null;
    this.said.focus();
    this.send.disabled = true;
    const a = await this.live.command(ready.command, ready.args);
    if (!a) this.say("bad", h("p", null, h("strong", null, "FAILED: "), this.live.answer.textContent));
    else if (a.ok) this.say("good", h("p", null, h("strong", null, "Done: "), a.message));
    else this.refuse(a.message);
  }
}
