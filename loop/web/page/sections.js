"use strict";
// The parts of the page, in their order. Each takes the document and gives elements.

const levelMarks = { good: "✓ good", watch: "! watch", bad: "✗ bad", unknown: "? not known", told: "" };

// modeWords say what a run is.
const modeWords = { run: "run", shadow: "dry run", simulate: "simulation" };

// endWords say why a run ended.
const endWords = (d, reason) => (d.run.endings && d.run.endings[reason]) || reason;

// timeLeft adds what only a running tuner knows.
function timeLeft(d, c) {
  const s = d.status;
  return c.name === "Budget and time left" && s && s.state === "running" && known(s.left_s) && !s.comparison ? ` About ${seconds(s.left_s)} left at this pace.` : "";
}

function healthSection(d) {
  return h("section", { "aria-labelledby": "health" }, h("h2", { id: "health" }, "Health"),
    h("ul", { class: "cards" }, d.health.map((c) => h("li", { class: c.level },
      h("strong", null, c.name), " ", h("span", { class: "mark " + c.level }, levelMarks[c.level]),
      h("p", null, c.text + timeLeft(d, c)), c.remedy ? h("p", null, "What to do: " + c.remedy) : null))));
}

// settingRows lists a setting with the ranges it lies in.
function settingRows(d, point) {
  return d.run.variables.map((v, i) => [v.name,
    known(point.x[i]) ? quantity(point.x[i], v.unit) : point.variables ? point.variables[i].text : "left alone, only measured",
    between(v.low, v.high, v.unit)]);
}

function bestSection(d) {
  const p = d.picture, out = [h("h2", { id: "best" }, "Recommended setting")];
  const o = d.run.objective, unit = d.run.unit;
  if (!p || !p.best) {
    out.push(h("p", null, p ? "Nothing is recommended yet: no step gave valid data." : d.status ? "The model is not there yet." : "The model was not asked for."));
    return h("section", { "aria-labelledby": "best" }, out);
  }
  const side = d.run.minimize ? "at most" : "at least";
  out.push(table("Recommended setting", [["Variable"], ["Setting", true], ["Range", true]], settingRows(d, p.best)),
    h("p", null, `${o} there, by the model: ${quantity(p.best.mean, unit)} expected, ${side} ${quantity(p.best.bound, unit)} by its pessimistic bound`
      + (d.run.risk > 0 ? ` (mean ${d.run.minimize ? "plus" : "minus"} ${num(d.run.risk)} times the variance of a shot)` : "")
      + (known(p.best.noise_sd) ? `; one shot scatters by ${quantity(p.best.noise_sd, unit)} (standard deviation).` : ".")));
  if (p.best.try && !d.run.finished) out.push(h("p", null, "To measure it again while it runs: ", h("code", null, p.best.try)));
  if (p.best.try_all && !d.run.finished) out.push(h("p", null, "The same, with what is held: ", h("code", null, p.best.try_all)));
  if (d.run.constraints.length && !p.best.feasible) out.push(h("p", { class: "bad" }, h("strong", null, "Careful: "), "this setting may break the constraints: none that was tried is known to keep them."));
  if (p.start) out.push(h("p", null, `Starting setting, by the same model: ${quantity(p.start.mean, unit)} expected.`));
  out.push(verified(d));
  return h("section", { "aria-labelledby": "best" }, out);
}

// verified tells what re-measuring has shown, which a prediction cannot replace.
function verified(d) {
  const line = (heading, ...text) => h("p", null, h("strong", null, heading + ": "), ...text);
  const now = d.status && d.status.comparison, r = d.result || {}, v = r.verified || now || {};
  if (v.running) return line("Being verified", `pair ${v.pair} of ${v.pairs}; the result will stand here.`);
  if (v.words) {
    const numbers = v.recommended && known(v.recommended.mean) ? ` Measured in turn: ${quantity(v.recommended.mean, d.run.unit)} recommended, ${quantity(v.start.mean, d.run.unit)} at the start`
      + `; that took ${v.steps} steps` + (v.spent > 0 ? ` and ${quantity(v.spent, d.run.cost_unit)}` : "") + " beside the search." : "";
    return line(v.verdict === "better" ? "Verified by re-measuring" : "Re-measured", v.words + ".", numbers);
  }
  const why = r.unverified || v.why;
  if (why) return line("Not verified", why + ". The improvement is only predicted.");
  if (d.run.mode === "shadow") return line("Not verified", "a dry run writes nothing, so the improvement is only predicted.");
  if (d.run.unverified) return line("Not verified", `it will not be: ${d.run.unverified}. The improvement is only predicted.`);
  if (stoppedEarly(d)) return line("Not verified", "the run was stopped before the recommended and the starting setting were measured in turn, so the improvement is only predicted.");
  if (!d.run.finished) return line("Not verified yet", "the recommended and the starting setting are measured in turn when the search ends; until then the improvement is only predicted.");
  return line("Not verified", "the recommended and the starting setting have not been measured again in turn, so the improvement is only predicted.");
}

function objectiveSpec(d) {
  const s = d.steps, unit = d.run.unit, best = d.picture && d.picture.best;
  const size = s.length > 500 ? 3 : 6; // of many points none hides the next
  const errors = (k) => s.map((r) => (r.mean != null && r.se != null ? r.mean + k * r.se : null));
  const series = [
    { label: "measured (mean of a step)", kind: "points", size, values: s.map((r) => r.mean) },
    { label: "mean - 2 SE", kind: "hidden", values: errors(-2) },
    { label: "mean + 2 SE", kind: "hidden", values: errors(2) },
    { label: "predicted before", kind: "points", hollow: true, size: size - 1, width: size / 4, colour: "third", values: s.map((r) => r.predicted) },
  ];
  let top = null;
  series.push({ label: "best measured so far", kind: "step", colour: "third", width: 1.5, values: s.map((r) => (known(r.mean) && (top === null || (d.run.minimize ? r.mean < top : r.mean > top)) ? (top = r.mean) : top)) });
  const failed = s.filter((r) => !r.valid).length, bands = [];
  let summary = (s.length < d.total ? `${s.length} of ${d.total} steps` : counted(d.total, "step")) + (failed ? `, ${failed} without valid data` : "") + "; bars are two standard errors of a step's mean.";
  if (!s.some((r) => known(r.mean))) summary = s.length ? `None of ${s.length} steps gave valid data.` : "No step is over yet.";
  if (best) {
    series.push({ label: "recommended: expected", colour: "second", level: best.mean },
      { label: "recommended: pessimistic bound", colour: "second", dash: [6, 4], width: 1.5, level: best.bound });
    if (known(best.noise_sd)) {
      bands.push([series.length, series.length + 1]);
      series.push({ label: "one shot there: + 2 SD", kind: "hidden", level: best.mean + 2 * best.noise_sd },
        { label: "one shot there: - 2 SD", kind: "hidden", level: best.mean - 2 * best.noise_sd });
      summary += ` The band is the noise: where 95 % of single shots fall at the recommended setting.`;
    }
    summary += ` The recommended setting is expected at ${quantity(best.mean, unit)}, with a pessimistic bound of ${quantity(best.bound, unit)}.`;
  }
  return { title: "Objective: " + d.run.objective, summary, x: { label: "step", values: s.map((r) => r.n) }, series: series.map((r) => ({ ...r, unit })), bars: [1, 2], bands,
    yLabel: named({ name: brief(d.run.objective), unit }), wide: true };
}

function knobSpec(d, i) {
  const v = d.run.variables[i], s = d.steps;
  const of = (key) => s.map((r) => (known(r[key][i]) ? r[key][i] : null));
  const last = s.length ? s[s.length - 1] : null;
  const summary = last && known(last.x[i]) ? `Last step: ${known(last.applied[i]) ? "set to " + quantity(last.applied[i], v.unit) : "left alone"}, ${v.actuated && known(last.applied[i]) ? "achieved" : "measured"} ${quantity(last.x[i], v.unit)}.` : "The last step has no value of it.";
  return { title: "Variable: " + v.name, summary, x: { label: "step", values: s.map((r) => r.n) }, yLabel: named({ name: brief(v.name), unit: v.unit }),
    series: [{ label: "requested", unit: v.unit, kind: "points", hollow: true, size: 11, width: 1, colour: "third", values: of("requested") },
      { label: "after the safety layer", unit: v.unit, kind: "points", hollow: true, size: 7, width: 1, colour: "second", values: of("applied") },
      { label: v.actuated ? "achieved" : "measured", unit: v.unit, kind: "points", size: 4, width: 1, values: of("x") }],
    yRange: known(v.low) ? (_, low, high) => [Math.min(v.low, low ?? v.low), Math.max(v.high, high ?? v.high)] : undefined };
}

function sliceSpec(d, slice) {
  const v = d.run.variables[slice.variable], best = d.picture.best, at = best.x[slice.variable];
  const shift = (k) => slice.mean.map((m, i) => (known(m) && known(slice.sd[i]) ? m + k * slice.sd[i] : null));
  const variance = slice.noise_sd.map((s) => (known(s) ? s * s : null));
  const series = [
    { label: "model mean", values: slice.mean },
    { label: "mean + 2 SD", width: 0.5, values: shift(2) }, { label: "mean - 2 SD", width: 0.5, values: shift(-2) },
    { label: "recommended", kind: "points", size: 10, colour: "second", values: slice.x.map((x) => (nearest(slice.x, at) === x ? best.mean : null)) }];
  const spec = { title: "Model along " + v.name, x: { label: named(v), values: slice.x }, yLabel: named({ name: brief(d.run.objective), unit: d.run.unit }), series: series.map((r) => ({ ...r, unit: d.run.unit })), bands: [[1, 2]],
    summary: `All other variables at the recommended setting; the band is two standard deviations of the mean. Recommended: ${quantity(at, v.unit)}.` };
  if (variance.some(known)) {
    const square = d.run.unit && d.run.unit !== "1" ? `(${d.run.unit})²` : "";
    spec.series.push({ label: "noise variance of a shot", unit: square, colour: "third", dash: [3, 3], width: 1.5, scale: "right", values: variance });
    spec.rightLabel = "noise variance" + (square && ` in ${square}`);
  }
  return spec;
}

const nearest = (list, x) => list.reduce((a, b) => (Math.abs(b - x) < Math.abs(a - x) ? b : a));

function setsSection(d) {
  const total = d.sets.reduce((a, s) => a + (s.spent || 0), 0), unit = d.run.cost_unit, y = d.run.unit;
  const rows = d.sets.map((s, i) => {
    const best = d.picture && d.picture.sets[i];
    return [s.variables.join(", ") || "none", s.steps ? quantity(s.spent / s.steps, unit) : "-", String(s.steps), s.steps ? String(s.first_step) : "-", quantity(s.spent, unit),
      total > 0 ? Math.round((100 * s.spent) / total) + " %" : "-", known(s.mean) ? quantity(s.mean, y) + (known(s.se) ? " ± " + num(s.se, 2) : "") : "-",
      best ? quantity(best.mean, y) : "-", best ? quantity(best.bound, y) : "-"];
  });
  return [table("Control sets", [["Control set"], ["Paid a step, mean", true], ["Steps", true], ["First step", true], ["Spent", true], ["Share", true],
      ["Last ten steps, mean ± SE", true], ["Its best, by the model", true], ["Its bound", true]], rows),
    h("p", null, savedWords(d, total))];
}

// savedWords compares what was spent with setting the most variables in every step. Shots
// and movements would have been paid as well, so that it is the sets' prices that differ.
function savedWords(d, total) {
  const unit = d.run.cost_unit, steps = d.sets.reduce((a, s) => a + s.steps, 0);
  const full = d.sets.reduce((a, s) => (s.variables.length > a.variables.length ? s : a));
  const every = full.variables.length === d.run.variables.length ? "every variable" : full.variables.join(", ");
  if (!total) return steps ? "Nothing was spent: no step has a price." : "";
  const spent = `Spent ${quantity(total, unit)} in ${steps} steps`;
  if (d.sets.length === 1) return spent + `, each of which set ${every}: there is one control set, so nothing was saved by leaving variables alone.`;
  const saved = d.sets.reduce((a, s) => a + s.steps * (full.cost - s.cost), 0);
  if (saved > 0) return spent + `. Setting ${every} in each of them would have cost ${quantity(total + saved, unit)} by the sets' prices: ${quantity(saved, unit)} saved.`;
  return spent + `. Setting ${every} in each of them would not have cost more by the sets' prices: nothing saved.`;
}

// margins are the nearest that any setting of each variable came to its hard bounds, by the
// document; they are looked for again when there are more steps.
const marginsSeen = new WeakMap();
function margins(d) {
  let seen = marginsSeen.get(d);
  if (!seen || seen.total !== d.total) {
    seen = { total: d.total, all: d.run.variables.map((v, i) => d.steps.reduce((low, s) => (known(s.applied[i]) ? Math.min(low, s.applied[i] - v.hard_low, v.hard_high - s.applied[i]) : low), Infinity)) };
    marginsSeen.set(d, seen);
  }
  return seen.all;
}

function safetySection(d) {
  const nearest = margins(d);
  const rows = d.run.variables.map((v, i) => [v, i]).filter(([v]) => known(v.hard_low)).map(([v, i]) => {
    const width = v.hard_high - v.hard_low, margin = nearest[i];
    const now = d.status && d.status.variables[i] ? d.status.variables[i].readback : null;
    return [v.name, `${num(v.hard_low)} to ${quantity(v.hard_high, v.unit)}`, known(margin) ? `${quantity(margin, v.unit, 3)} (${Math.round((100 * margin) / width)} % of the bounds)` : "-",
      known(now) ? quantity(Math.min(now - v.hard_low, v.hard_high - now), v.unit, 3) : "-"].slice(0, d.status ? 4 : 3);
  });
  const out = [];
  if (rows.length) out.push(table("Margins to the hard bounds", [["Actuator"], ["Hard bounds", true], ["Nearest that any setting came to them", true], ["Margin now", true]].slice(0, d.status ? 4 : 3), rows));
  if (!d.status && d.doses.length) out.push(dosesTable(d), h("p", null, "A dose whose outcome is unknown counts as given and is never repeated."));
  out.push(d.rules.length
    ? table("Proposals that were changed", [["Rule"], ["Variable"], ["Proposals", true]], d.rules.map((r) => [r.rule, r.variable || "all", String(r.count)]))
    : h("p", null, "No proposal was changed."));
  const told = d.events.filter((e) => e.kind === "safety");
  out.push(h("p", null, told.length ? `${told.length} safety events are among the events.` : "No safety event."));
  const counts = Object.entries(d.actions).map(([k, n]) => `${n} ${k}`).join(", ");
  if (counts && !d.status) out.push(h("p", null, "Actions on the instrument: " + counts + "."));
  return out;
}

// dosesTable tells what the pumps gave, and what of it nobody knows.
function dosesTable(d) {
  return table("Doses", [["Doses of"], ["Given", true], ["In doses", true], ["Largest dose, of its limit", true], ["Outcome not known", true], ["Not given", true], ["Limit of the run", true], ["Left of it", true]],
    d.doses.map((p) => [p.variable, quantity(p.given, p.unit), String(p.doses), p.doses ? num(p.largest) + " of " + (known(p.per_dose) ? quantity(p.per_dose, p.unit) : "any") : "-",
      p.unknown ? h("span", { class: "watch" }, `${p.unknown} (${quantity(p.unknown_amount, p.unit)})`) : "none", p.refused ? String(p.refused) : "none",
      known(p.limit) ? quantity(p.limit, p.unit) : "none", known(p.limit) ? quantity(p.limit - p.given, p.unit) : "-"]));
}

// alike says that two neighbouring steps are told in one row.
const alike = (a, b) => a.set === b.set && a.because === b.because && a.struck === b.struck && a.valid && b.valid;

// span writes what a group of steps has of a number: one value, or from where to where.
function span(group, key, digits = 4) {
  const all = group.map((s) => s[key]).filter(known), low = Math.min(...all), high = Math.max(...all);
  if (!all.length) return "-";
  return num(low, digits) === num(high, digits) ? num(low, digits) : `${num(low, digits)} to ${num(high, digits)}`;
}

// controlled names the variables of a control set.
function controlled(d, set) {
  const s = d.sets[set];
  if (!s) return "-";
  return s.variables.length > 2 && s.variables.length === d.run.variables.length ? "all variables" : s.variables.join(", ");
}

// whyRow tells a group of neighbouring steps that were decided for one reason.
function whyRow(d, group) {
  const s = group[group.length - 1], first = group[0], one = group.length === 1;
  return [one ? String(s.n) : `${first.n} to ${s.n}`, controlled(d, s.set),
    s.because + (s.struck ? `. Struck since by ${s.struck}: the model leaves it out` : ""),
    one && known(s.predicted) ? `${num(s.predicted)} ± ${num(s.predicted_sd, 2)}` : span(group, "predicted"), span(group, "best_then"),
    s.valid ? span(group, "mean") : h("span", { class: "bad wrap" }, "no data: " + s.problem), span(group, "cost"), span(group, "took_ms", 3)];
}

function whySection(d) {
  const groups = [];
  for (const s of d.steps.slice(-60)) {
    const last = groups[groups.length - 1];
    if (last && alike(last[last.length - 1], s)) last.push(s);
    else groups.push([s]);
  }
  const cut = d.cut ? h("p", { class: "watch" }, `The deadline cut the search for the next setting in ${d.cut} of ${counted(d.total, "step")}: raise deadline in [policy] (tuner check says how far).`) : "";
  const unit = d.run.unit, head = (name) => [named({ name, unit }), true];
  return [cut,
    h("p", null, "As known when each was decided. Neighbouring steps with one reason share a row, which gives the range of their numbers."),
    table("The last steps, newest first", [["Steps", true], ["Control set"], ["Why", false, true], head("Predicted ± SD"), head("Best then"), head("Measured"), [named({ name: "Cost", unit: d.run.cost_unit }), true], ["Decision (ms)", true]],
      groups.slice(-25).reverse().map((g) => whyRow(d, g)))];
}

function eventsSection(d) {
  const rows = d.events.slice(-100).reverse().map((e) => [when(e.wall_ms), h("span", { class: { warn: "watch", error: "bad" }[e.level] || "" }, e.level), e.step ? String(e.step) : "-", e.message]);
  return rows.length ? table("Events, newest first", [["Time (UTC)"], ["Level"], ["Step", true], ["What", false, true]], rows) : h("p", null, "None.");
}

function aboutSection(d, page) {
  const r = d.run;
  const facts = [["Run", `${r.name} at ${r.site || "no site"}, ${r.id}`], ["Kind of run", modeWords[r.mode] || r.mode], ["Policy", r.policy], ["Begun", r.mode === "simulate" ? `${r.start}, simulated time` : r.start], ["Steps", String(d.total)],
    ["Ended", r.finished ? endWords(d, r.reason) : (d.status && d.status.state === "ended" && endWords(d, d.status.reason)) || "not yet"], ["Version of tuner", r.version], ["Seed", r.seed], ["Times started", String(r.sessions)],
    ["Configuration", r.config_file], ["SHA-256 of the configuration", r.config_sha256]];
  if (d.hash) facts.push(["SHA-256 of the journal's records, as JSON lines", d.hash]);
  if (d.replay) facts.push(["Decisions derived again", d.replay]);
  const base = slug(r.name);
  return [h("dl", { class: "facts" }, facts.flatMap(([k, v]) => [h("dt", null, k), h("dd", null, v)])),
    h("div", { class: "tools" },
      h("button", { type: "button", onclick: () => saveSteps(page.document, base) }, "Save steps as CSV"),
      h("button", { type: "button", onclick: () => save(base + ".json", "application/json", JSON.stringify(page.document)) }, "Save all as JSON"),
      page.live ? h("a", { href: "api/report", download: base + ".html" }, "Download the report") : null),
    r.config_text ? h("details", null, h("summary", null, "Configuration"), h("pre", { tabindex: "0" }, r.config_text)) : null];
}

function saveSteps(d, base) {
  const v = d.run.variables.map((x) => x.name), s = d.steps;
  const headings = ["step", "control_set", "valid", "mean", "standard_error", "cost", "spent", ...v.map((x) => x + "_requested"), ...v.map((x) => x + "_applied"), ...v.map((x) => x + "_achieved")];
  const vector = (key) => v.map((_, i) => s.map((r) => r[key][i]));
  save(base + ".csv", "text/csv", csv(headings, [s.map((r) => r.n), s.map((r) => (d.sets[r.set] ? d.sets[r.set].variables.join(" ") : "")), s.map((r) => r.valid),
    s.map((r) => r.mean), s.map((r) => r.se), s.map((r) => r.cost), s.map((r) => r.spent), ...vector("requested"), ...vector("applied"), ...vector("x")]));
}
