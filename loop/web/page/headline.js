"use strict";
// The first screen: how good, how sure, how far, how long, and how it stands, in large numbers.

const stateLevels = { running: "good", armed: "watch", disarmed: "watch", starting: "watch", ending: "watch", ended: "unknown", held: "watch",
  "fallen back": "bad", tripped: "bad", stopped: "bad" };

// stateText is the state in a few words.
function stateText(s, d) {
  let text = s.paused && s.state === "held" ? "paused" : s.state;
  if (s.state === "ended" && s.reason) text += ": " + endWords(d, s.reason);
  if (s.state === "running" && s.comparison && s.comparison.running) text = "verifying";
  if (s.phase === "waiting for resume") text = "waiting for Resume";
  return text + (s.dry_run ? ", dry run" : "");
}

// stoppedEarly says that nothing of this run goes on: it was ended before a stop condition held.
const stoppedEarly = (d) => !d.run.finished && d.status && ["ended", "stopped"].includes(d.status.state);

// verdictOf is what re-measuring has shown: [level, word, more].
function verdictOf(d) {
  const now = d.status && d.status.comparison, r = d.result || {}, v = r.verified || now || {};
  if (v.running) return ["told", "being verified", `pair ${v.pair} of ${v.pairs}`];
  if (v.verdict === "better") return ["good", "verified", v.gain ? `better than the start, p = ${num(v.gain.p, 2)}` : "better than the start"];
  if (v.words) return ["watch", "no gain shown", "re-measured against the start"];
  if (stoppedEarly(d)) return ["watch", "not verified", "it was stopped before"];
  return ["watch", d.run.finished || d.run.unverified || d.run.mode === "shadow" ? "not verified" : "not verified yet", "predicted by the model"];
}

// gainOf is how much better than the start the recommended setting is, in percent of the start: as
// measured where that was done, else by the model.
function gainOf(d) {
  const v = d.result && d.result.verified, p = d.picture;
  const pair = v && v.recommended && known(v.recommended.mean) ? [v.recommended.mean, v.start.mean, "as measured"] : p && p.best && p.start ? [p.best.mean, p.start.mean, "by the model"] : null;
  if (!pair || !known(pair[0]) || !known(pair[1]) || pair[1] === 0) return null;
  const part = ((d.run.minimize ? -1 : 1) * 100 * (pair[0] - pair[1])) / Math.abs(pair[1]);
  return [`${part > 0 ? "+" : ""}${num(part, 3)} %`, `from ${quantity(pair[1], d.run.unit)} at the start, ${pair[2]}`];
}

// headlineSection is the line of large numbers: each [heading, large, small, level].
function headlineSection(d) {
  const best = d.picture && d.picture.best, s = d.status, side = d.run.minimize ? "at most" : "at least", tiles = [];
  tiles.push(best ? [d.run.finished || stoppedEarly(d) ? "Best found" : "Best now", quantity(best.mean, d.run.unit), `${side} ${quantity(best.bound, d.run.unit)} by the model`] : ["Best now", "-", "no valid data yet"]);
  const gain = gainOf(d);
  if (gain) tiles.push([d.run.minimize ? "Change by tuning" : "Gain over the start", ...gain]);
  if (best) {
    const [level, word, more] = verdictOf(d);
    tiles.push(["How sure", word, more, level]);
  }
  const limit = d.run.stop_steps, steps = s ? s.steps : d.total;
  const part = limit ? steps / limit : known(d.run.stop_seconds) && s ? s.elapsed_s / d.run.stop_seconds : null;
  tiles.push(["Steps", limit ? `${steps} of ${limit}` : String(steps), known(part) ? h("progress", { max: "100", value: String(Math.round(100 * Math.min(part, 1))), "aria-label": "of the search" }) : "of the search"]);
  const end = d.run.finished || (s && s.state === "ended");
  if (s && !end) tiles.push(["Time left", known(s.left_s) && !["stopped", "tripped"].includes(s.state) ? seconds(s.left_s) : "-", s.comparison && s.comparison.running ? "verification under way" : s.state === "running" ? "at this pace" : "while it does not run"]);
  const cause = s && s.causes.length ? s.causes[0].text : s && s.paused_by ? "by " + s.paused_by : s && s.state === "running" ? s.phase : "";
  if (s && !end) tiles.push(["State", stateText(s, d), cause, stateLevels[s.state]]);
  else if (d.run.finished) tiles.push(["Ended", endWords(d, d.run.reason), d.run.mode === "simulate" ? "simulated" : d.run.start.slice(0, 10)]);
  else tiles.push(["State", s ? stateText(s, d) : "not finished", d.run.start.slice(0, 10)]);
  return h("section", { "aria-label": "At a glance" }, h("dl", { class: "headline" }, tiles.map(([name, large, small, level]) =>
    h("div", null, h("dt", null, name), h("dd", { class: "large " + (level || "") }, large), h("dd", { class: "small" }, small)))));
}
