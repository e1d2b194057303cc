#!/usr/bin/env python3
"""Compares one policy with others over the experiments of results files, in pairs of seeds.

usage: scripts/benchpaired.py POLICY OTHER[,OTHER...] FILE...

Each FILE is what `tuner bench run --out` or `merge` writes. For each experiment and each other policy: the ratio of simple
regrets at the end (geometric mean over the seeds that both have) with its upper 95 % bound (one-sided, Student's t of
the logarithms), and the p of being worse, by Holm's correction over all lines. Then all experiments together, each with
the same weight. A regret below 1e-6 counts as 1e-6.
"""
import collections, json, math, statistics, sys

LEAST = 1e-6


def read(files):
    regrets = collections.defaultdict(dict)
    for name in files:
        for line in open(name, encoding="utf-8"):
            result = json.loads(line)
            for seed in result["seeds"]:
                if not seed.get("error"):
                    regrets[result["experiment"], result["policy"]][seed["seed"]] = max(seed["simple_regret"][-1], LEAST)
    return regrets


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


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    policy, others, regrets = sys.argv[1], sys.argv[2].split(","), read(sys.argv[3:])
    lines = []
    for experiment in sorted({e for e, p in regrets if p == policy}):
        for other in others:
            a, b = regrets[experiment, policy], regrets.get((experiment, other), {})
            logs = [math.log(a[s] / b[s]) for s in sorted(a) if s in b]
            if len(logs) > 2:
                mean, se = statistics.mean(logs), statistics.stdev(logs) / math.sqrt(len(logs))
                p = tail(mean / se, len(logs) - 1) if se else 1.0
                lines.append((experiment, other, logs, mean, se, p))
    if not lines:
        sys.exit(f"no experiment has three seeds of {policy} and another of {', '.join(others)}")
    corrected = holm([p for *_, p in lines])
    print(f"{'experiment':34} {'beside':18} seeds  ratio  at most  p of worse (Holm)")
    for k, (experiment, other, logs, mean, se, _) in enumerate(lines):
        bound = math.exp(mean + quantile(0.05, len(logs) - 1) * se)
        print(f"{experiment:34} {other:18} {len(logs):5} {math.exp(mean):6.2f} {bound:8.2f}  {corrected[k]:.2f}")
    for other in others:
        own = [line for line in lines if line[1] == other]
        if own:
            mean = statistics.mean(m for *_, m, _, _ in own)
            se = math.sqrt(sum(s * s for *_, s, _ in own)) / len(own)
            print(f"all {len(own):3} experiments beside {other}: {math.exp(mean):.2f}, at most {math.exp(mean + 1.645 * se):.2f}")


main()
