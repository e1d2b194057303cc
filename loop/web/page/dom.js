"use strict";
// Small helpers: elements, numbers with units, files to save.

// h makes an element; attributes that are null are left out, children that are null too.
function h(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value == null) continue;
    if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else e.setAttribute(name, value);
  }
  e.append(...children.flat().filter((c) => c != null));
  return e;
}

const known = (x) => x != null && Number.isFinite(x);

// num writes a number with four digits, "-" where there is none.
function num(x, digits = 4) {
  if (!known(x)) return "-";
  return String(Number(x.toPrecision(digits)));
}

// quantity writes a number with its unit.
function quantity(x, unit, digits = 4) {
  if (!known(x)) return "not known";
  return unit && unit !== "1" ? num(x, digits) + " " + unit : num(x, digits);
}

// between writes a range of which either end may be missing.
function between(low, high, unit) {
  if (known(low) && known(high)) return `${num(low)} to ${quantity(high, unit)}`;
  if (known(low)) return "at least " + quantity(low, unit);
  return known(high) ? "at most " + quantity(high, unit) : "-";
}

// named is a name with its unit, for headings.
const named = (v) => (v.unit && v.unit !== "1" ? `${v.name} (${v.unit})` : v.name);

// brief cuts the middle out of a long name.
const brief = (name, most = 26) => (name.length > most ? name.slice(0, most / 2) + "…" + name.slice(1 - most / 2) : name);

const counted = (n, what, many = what + "s") => `${n} ${n === 1 ? what : many}`;

const when = (ms) => (known(ms) ? new Date(ms).toISOString().replace("T", " ").slice(0, 19) : "-");

function seconds(s) {
  if (!known(s) || s < 0) return "not known";
  if (s < 60) return `${Math.round(s)} s`;
  if (s < 3600) return `${Math.round(s / 60)} min`;
  return s < 172800 ? `${(s / 3600).toFixed(1)} h` : `${(s / 86400).toFixed(1)} days`;
}

// table makes a table; columns are [heading, isNumber, isLong], rows lists of texts or elements.
function table(caption, columns, rows) {
  const cell = (tag, i, content) => h(tag, { class: columns[i][1] ? "num" : columns[i][2] ? "long" : null, scope: tag === "th" ? "col" : null }, content);
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption + " (table)" },
    h("table", null,
      h("thead", null, h("tr", null, columns.map((c, i) => cell("th", i, c[0])))),
      h("tbody", null, rows.map((r) => h("tr", null, r.map((c, i) => cell("td", i, c)))))));
}

// renew makes an element like a fresh one and touches only what differs, so that the focus,
// the scrolling and a reader's place in it stay.
function renew(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  for (const a of [...old.attributes]) if (!fresh.hasAttribute(a.name) && a.name !== "open") old.removeAttribute(a.name);
  for (const a of fresh.attributes) if (old.getAttribute(a.name) !== a.value) old.setAttribute(a.name, a.value);
  const before = [...old.childNodes], after = [...fresh.childNodes];
  after.forEach((n, i) => {
    const o = before[i];
    if (!o) old.append(n);
    else if (o.nodeName !== n.nodeName) o.replaceWith(n);
    else if (n.nodeType === Node.ELEMENT_NODE) renew(o, n);
    else if (o.data !== n.data) o.data = n.data;
  });
  before.slice(after.length).forEach((o) => o.remove());
}

// save offers bytes as a file.
function save(name, type, data) {
  const url = URL.createObjectURL(data instanceof Blob ? data : new Blob([data], { type }));
  const a = h("a", { href: url, download: name });
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// csv writes columns as CSV; what is not known is empty.
function csv(headings, columns) {
  const field = (v) => (v == null || Number.isNaN(v) ? "" : /[",\n]/.test(String(v)) ? `"${String(v).replaceAll('"', '""')}"` : String(v));
  const lines = [headings.map(field).join(",")];
  for (let i = 0; i < columns[0].length; i++) lines.push(columns.map((c) => field(c[i])).join(","));
  return lines.join("\n") + "\n";
}

const slug = (s) => s.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

// soon does a job in the next task; a timer would wait for some milliseconds, and be painted in between.
const channel = new MessageChannel(), next = [];
channel.port1.onmessage = () => next.shift()();
function soon(job) {
  next.push(job);
  channel.port2.postMessage(null);
}

// Jobs are done after what is being done now, a few in a task, so that the page answers in between; busy is told
// when there are some, and when there is none left.
class Jobs {
  constructor(busy) {
    this.busy = busy;
    this.waiting = new Map();
  }

  // later adds a job at the end, also where it stands for an older one of its name: jobs keep the order of their last call.
  later(name, job) {
    if (!this.waiting.size) {
      soon(() => this.go());
      this.busy(true);
    }
    this.waiting.delete(name);
    this.waiting.set(name, job);
  }

  go() {
    const begun = performance.now();
    try {
      do this.work();
      while (this.waiting.size && performance.now() - begun < 5);
    } finally {
      if (this.waiting.size) soon(() => this.go());
    }
  }

  // work does the oldest job.
  work() {
    if (!this.waiting.size) return;
    const [[name, job]] = this.waiting;
    try {
      job();
    } finally { // one that fails keeps no other from being done
      if (this.waiting.get(name) === job) this.waiting.delete(name);
      if (!this.waiting.size) this.busy(false);
    }
  }

  // finish does all that is left, now.
  finish() {
    while (this.waiting.size) this.work();
  }
}
