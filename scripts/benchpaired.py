#!/usr/bin/env python3
"""Compares one policy with others over the experiments of results files, in pairs of seeds.

usage: scripts/benchpaired.py [--of REGRET] [--more SHARE] POLICY OTHER[,OTHER...] FILE...
       scripts/benchpaired.py [--of REGRET] [--more SHARE] --before FILE... --after FILE...

Each FILE is what `tuner bench run --out` or `merge` writes. For each experiment and each other policy, or each policy by
the files after beside those before: the ratio of regrets at the end (geometric mean over the seeds that both have) with
its upper 95 % bound (one-sided, Student's t of the logarithms), and the p of being worse, by Holm's correction over all
lines; medians and 90 % quantiles of both. Then all experiments together, each with the same weight. REGRET is simple (if
left out), cumulative or recommended; one below 1e-6 counts as 1e-6. With --more 0.01 a hundredth of the median of both is
added to each, so that runs which are both close to nothing are alike.
"""
import argparse, collections, json, math, statistics, sys

LEAST = 1e-6


def regret(seed, of):
    if of == "recommended":
        return (seed.get("recommended") or {}).get("regret")
    return seed[f"{of}_regret"][-1] if seed.get(f"{of}_regret") else None


def read(files, of):
    regrets = collections.defaultdict(dict)
    for name in files:
        for line in open(name, encoding="utf-8"):
            result = json.loads(line)
            for seed in result["seeds"]:
                value = None if seed.get("error") else regret(seed, of)
                if value is not None:
                    regrets[result["experiment"], result["policy"]][seed["seed"]] = max(value, LEAST)
    return regrets


def pairs(arguments):
    """(experiment, other, regrets by seed, the other's), each experiment and other once."""
    if arguments.after:
        before, after = read(arguments.before, arguments.of), read(arguments.after, arguments.of)
        return [(e, f"{p}, before", after[e, p], before[e, p]) for e, p in sorted(after) if (e, p) in before]
    if len(arguments.rest) < 3:
        sys.exit(__doc__)
    policy, others, regrets = arguments.rest[0], arguments.rest[1].split(","), read(arguments.rest[2:], arguments.of)
    return [(e, other, regrets[e, policy], regrets[e, other]) for e in sorted({e for e, p in regrets if p == policy})
            for other in others if (e, other) in regrets]


def tail(t, degrees, steps=4000):
    """P(T > t) of Student's distribution, by Simpson's rule over u with T = tan u sqrt(degrees)."""
    low, high = math.atan(t / math.sqrt(degrees)), math.pi / 2
    c = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(math.pi)
    h = (high - low) / steps
    value = lambda k: math.cos(low + k * h) ** (degrees - 1) * (1 if k in (0, steps) else 4 if k % 2 else 2)
    return c * h / 3 * sum(value(k) for k in range(steps + 1))


def quantile(p, degrees):
    low, high = 0.0, 20.0
    while high - low > 1e-6:
        mid = (low + high) / 2
        low, high = (mid, high) if tail(mid, degrees) > p else (low, mid)
    return low


def holm(ps):
    out, worst = {}, 0.0
    for rank, k in enumerate(sorted(range(len(ps)), key=lambda k: ps[k])):
        worst = max(worst, min(1.0, (len(ps) - rank) * ps[k]))
        out[k] = worst
    return out


def quantiles(values):
    ordered = sorted(values)
    return f"{statistics.median(ordered):.3g}, {ordered[min(int(0.9 * len(ordered)), len(ordered) - 1)]:.3g}"


def main():
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("--of", choices=["simple", "cumulative", "recommended"], default="simple")
    parser.add_argument("--more", type=float, default=0)
    parser.add_argument("--before", nargs="+", default=[])
    parser.add_argument("--after", nargs="+", default=[])
    parser.add_argument("rest", nargs="*")
    lines = []
    arguments = parser.parse_args()
    for experiment, other, ours, theirs in pairs(arguments):
        seeds = sorted(set(ours) & set(theirs))
        if len(seeds) < 3:
            continue
        a, b = [ours[s] for s in seeds], [theirs[s] for s in seeds]
        more = arguments.more * statistics.median(a + b)
        logs = [math.log((x + more) / (y + more)) for x, y in zip(a, b)]
        mean, se = statistics.mean(logs), statistics.stdev(logs) / math.sqrt(len(logs))
        lines.append((experiment, other, len(logs), mean, se, tail(mean / se, len(logs) - 1) if se else 1.0, f"{quantiles(a)} | {quantiles(b)}"))
    if not lines:
        sys.exit("no experiment has three seeds of both")
    corrected = holm([line[5] for line in lines])
    print(f"{'experiment':30} {'beside':26} seeds  ratio  at most  p of worse (Holm)  median, 90 % | of the other")
    for k, (experiment, other, count, mean, se, _, words) in enumerate(lines):
        bound = math.exp(mean + quantile(0.05, count - 1) * se)
        print(f"{experiment:30} {other:26} {count:5} {math.exp(mean):6.2f} {bound:8.2f}  {corrected[k]:.2f}  {words}")
    for name, own in groups(lines):
        mean, se = statistics.mean(line[3] for line in own), math.sqrt(sum(line[4] ** 2 for line in own)) / len(own)
        print(f"all {len(own):3} experiments beside {name}: {math.exp(mean):.3f}, at most {math.exp(mean + 1.645 * se):.3f}")


def groups(lines):
    """The lines by what they are beside."""
    out = collections.defaultdict(list)
    for line in lines:
        out["before" if line[1].endswith(", before") else line[1]].append(line)
    return out.items()


main()
