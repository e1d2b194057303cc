"""What a file of results comes to: medians, ranks, paired comparisons, profiles, acceleration and enhancement.

Only the standard library. A regret is counted in scales: 1 is the median setting's, 0 the optimum's. A run that failed
has the regret of its start all along, 1 where even that is not known; one whose package is missing counts nowhere but
is listed.
"""

from collections import defaultdict
from itertools import groupby
from statistics import median

SHARES = (0.01, 0.05, 0.10)
REFERENCE = "random"


class Results:
    """Final regrets and curves of runs, by problem and peer and seed."""

    def __init__(self, rows):
        self.rows = list(rows)
        self.missing = sorted({(r["peer"], r["error"]) for r in self.rows if r["status"] == "missing"})
        self.failed = [r for r in self.rows if r["status"] == "failed"]
        self.runs = defaultdict(lambda: defaultdict(dict))
        for r in self.rows:
            if r["status"] != "missing":
                self.runs[r["problem"]][r["peer"]][r["seed"]] = r
        self.problems = sorted(self.runs)
        self.peers = sorted({p for by in self.runs.values() for p in by})

    def final(self, problem, peer):
        """seed -> regret of the last recommendation, in scales"""
        return {seed: last(r, self) for seed, r in sorted(self.runs[problem].get(peer, {}).items())}

    def start(self, row):
        """The regret of a run's start, by any other run of the seed."""
        for by in self.runs[row["problem"]].values():
            other = by.get(row["seed"])
            if other and other["status"] == "ok":
                return other["regret"][0] / other["scale"]
        return 1.0


def last(row, results):
    return results.start(row) if row["status"] != "ok" else row["regret"][-1] / row["scale"]


def ranks(values):
    """name -> rank from 1 for the smallest; equals share their mean rank."""
    out, at = {}, 1
    for _, group in groupby(sorted(values, key=values.get), key=values.get):
        names = list(group)
        for n in names:
            out[n] = at + (len(names) - 1) / 2
        at += len(names)
    return out


def signed_rank(differences):
    """The two-sided p of Wilcoxon's signed-rank test: exact over all signs, zeros left out."""
    d = [x for x in differences if x != 0]
    if not d:
        return 1.0
    doubled = {i: round(2 * r) for i, r in ranks({i: abs(x) for i, x in enumerate(d)}).items()}
    total = sum(doubled.values())
    counts = [1] + [0] * total  # of the ways of signs by the sum of positive ranks
    for r in doubled.values():
        for s in range(total, r - 1, -1):
            counts[s] += counts[s - r]
    positive = sum(doubled[i] for i, x in enumerate(d) if x > 0)
    extreme = min(positive, total - positive)
    return min(1.0, 2 * sum(counts[: extreme + 1]) / 2 ** len(d))


def holm(ps):
    """name -> p after Holm's correction over all of them."""
    out, largest = {}, 0.0
    for i, name in enumerate(sorted(ps, key=ps.get)):
        largest = max(largest, min(1.0, (len(ps) - i) * ps[name]))
        out[name] = largest
    return out


def comparisons(results, ours):
    """(problem, peer) -> median difference (ours less theirs), seeds in common, p after Holm."""
    found, ps = {}, {}
    for problem in results.problems:
        mine = results.final(problem, ours)
        for peer in results.peers:
            theirs = results.final(problem, peer)
            common = sorted(mine.keys() & theirs.keys())
            if peer == ours or not common:
                continue
            differences = [mine[s] - theirs[s] for s in common]
            found[problem, peer] = (median(differences), len(common))
            ps[problem, peer] = signed_rank(differences)
    adjusted = holm(ps)
    return {k: (*found[k], adjusted[k]) for k in found}


def reached(row, level, scale):
    """The share of the budget after which a run's recommendation is at most level (in scales) and stays so; None: never."""
    if row["status"] != "ok":
        return None
    at = None
    for cost, regret in zip(row["cost"], row["regret"]):
        if regret / scale <= level:
            at = cost / row["budget"] if at is None else at
        else:
            at = None
    return at


def profile(results, peer, share):
    """The share of runs solved to share against the share of the budget: [(cost, solved), ...]; each problem weighs the same."""
    steps = []
    shown = [p for p in results.problems if results.runs[p].get(peer)]
    for problem in shown:
        runs = results.runs[problem][peer]
        for r in runs.values():
            at = reached(r, share, r["scale"]) if r["status"] == "ok" else None
            if at is not None:
                steps.append((at, 1 / len(runs) / len(shown)))
    curve, solved = [(0.0, 0.0)], 0.0
    for at, weight in sorted(steps):
        solved += weight
        curve.append((at, solved))
    return curve


def middle(results, problem, peer):
    """The median regret of a peer in scales over the share of the budget, at each cost of any of its runs."""
    runs = [r for r in results.runs[problem].get(peer, {}).values() if r["status"] == "ok"]
    if not runs:
        return []
    costs = sorted({c / r["budget"] for r in runs for c in r["cost"]})
    # Until its first step has been paid a run recommends its start.
    return [(c, median(next((g for k, g in zip(reversed(r["cost"]), reversed(r["regret"])) if k / r["budget"] <= c), r["regret"][0]) / r["scale"] for r in runs))
            for c in costs]


def acceleration(results, problem, peer):
    """Cost at which random search's median first reaches its least regret, over the cost at which the peer's does; None: never."""
    reference, own = middle(results, problem, REFERENCE), middle(results, problem, peer)
    if not reference or not own:
        return None
    level = min(g for _, g in reference)
    slow, fast = (next((c for c, g in curve if g <= level), None) for curve in (reference, own))
    return slow / fast if fast else None


def enhancement(results, problem, peer):
    """What the peer gains on the median setting at the end, over what random search gains; None where that gains nothing."""
    reference, own = middle(results, problem, REFERENCE), middle(results, problem, peer)
    if not reference or not own or reference[-1][1] >= 1:
        return None
    return (1 - own[-1][1]) / (1 - reference[-1][1])


def number(value):
    return "" if value is None else f"{value:.2g}" if abs(value) < 100 else f"{value:.0f}"


def tables(results, ours="tuner"):
    """All of it as Markdown."""
    medians = {p: {q: median(v.values()) for q in results.peers if (v := results.final(p, q))} for p in results.problems}
    by_peer = {q: [ranks(medians[p])[q] for p in results.problems if q in medians[p]] for q in results.peers}
    order = sorted(results.peers, key=lambda q: (median(by_peer[q]), sum(by_peer[q])))
    out = ["## Median regret of the last recommendation", "", "In scales of the problem: 0 is the optimum, 1 the median setting. In brackets the seeds.", "",
           "| problem | " + " | ".join(order) + " |", "|---|" + "---|" * len(order)]
    for p in results.problems:
        least = min(medians[p].values())
        cells = []
        for q in order:
            if q not in medians[p]:
                cells.append("")
                continue
            text = f"{number(medians[p][q])} ({len(results.final(p, q))})"
            cells.append(f"**{text}**" if medians[p][q] == least else text)
        out.append(f"| {p} | " + " | ".join(cells) + " |")
    out += ["| median rank | " + " | ".join(number(median(by_peer[q])) for q in order) + " |", ""]
    out += factors(results, order)
    out += beside(results, order, ours)
    out += absent(results)
    return "\n".join(out) + "\n"


def factors(results, order):
    out = ["## Solved, faster, better", "",
           "Solved: share of runs whose recommendation is within 1, 5 and 10 % of the scale at the end of the budget. Acceleration: cost at which random search's median "
           "reaches its least regret, over the cost at which the peer's does (never: not reached). Enhancement: what is gained on the median setting, over what random search gains. "
           "Medians over problems. CPU: the program's own seconds for each step.", "",
           "| peer | solved to 1 % | 5 % | 10 % | acceleration | never | enhancement | CPU a step (s) |", "|---|---|---|---|---|---|---|---|"]
    for q in order:
        fast = {p: acceleration(results, p, q) for p in results.problems if middle(results, p, q) and middle(results, p, REFERENCE)}
        known = [a for a in fast.values() if a is not None]
        more = [e for p in fast if (e := enhancement(results, p, q)) is not None]
        cpu = [r["cpu_s"] / len(r["cost"]) for by in results.runs.values() for r in by.get(q, {}).values() if r["status"] == "ok"]
        cells = [f"{100 * profile(results, q, s)[-1][1]:.0f} %" for s in SHARES]
        cells += [number(median(known)) if known else "", f"{len(fast) - len(known)} of {len(fast)}", number(median(more)) if more else "",
                  number(median(cpu)) if cpu else ""]
        out.append(f"| {q} | " + " | ".join(cells) + " |")
    return out + [""]


def beside(results, order, ours):
    """Where a peer is significantly ahead of ours, and where behind."""
    if ours not in order:
        return []
    out = [f"## {ours} beside each peer", "", "Wilcoxon's signed-rank test over the seeds in common, two-sided, Holm's correction over all pairs of this table. "
           "With 5 seeds no pair can be below 0.06 before correction.", "",
           "| peer | lower median difference | higher | significantly ahead | significantly behind |", "|---|---|---|---|---|"]
    found = comparisons(results, ours)
    for q in order:
        own = {p: v for (p, other), v in found.items() if other == q}
        if not own:
            continue
        ahead = [p for p, (d, _, a) in own.items() if a < 0.05 and d < 0]
        behind = [p for p, (d, _, a) in own.items() if a < 0.05 and d > 0]
        out.append(f"| {q} | {sum(d < 0 for d, _, _ in own.values())} of {len(own)} | {sum(d > 0 for d, _, _ in own.values())} | "
                   f"{', '.join(ahead) or 'none'} | {', '.join(behind) or 'none'} |")
    return out + [""]


def absent(results):
    out = []
    if results.missing:
        out += ["## Not run", ""] + [f"- {peer}: {error}" for peer, error in results.missing] + [""]
    if results.failed:
        out += ["## Failed", "", "Counted with the regret of the start.", ""]
        out += [f"- {r['peer']} on {r['problem']}, seed {r['seed']}: {r['error'][:200]}" for r in results.failed] + [""]
    return out
