#!/usr/bin/env python3
"""Compare what tuner found on this computer with a coarse grid of the same cost.

Usage:
    go build -o /tmp/tuner ./cmd/tuner
    /tmp/tuner run configs/thiscomputer.toml --json --new > /tmp/run.jsonl
    python3 scripts/thiscomputer_grid.py /tmp/tuner /tmp/run.jsonl

The grid has 5 levels x 4 block sizes x 2 numbers of workers = 40 settings of 5
shots each: the 200 shots that configs/thiscomputer.toml spends. Its best is the
setting with the largest mean, in the same objective as the file's: mean minus
0.02 times the variance. Then both settings are measured again in alternation,
because the largest of 40 noisy means flatters itself and the machine's load
changes: it is the repeated measurement that counts. Standard library only; the
instrument is the child `tuner thiscomputer`, spoken to by tuner-exec/1.
"""
import itertools
import json
import math
import statistics
import subprocess
import sys

LINK = 20  # MB/s, as in the formula of configs/thiscomputer.toml
RISK = 0.02  # [policy] risk of configs/thiscomputer.toml, in s/MB
SHOTS = 5
AGAIN = 40
GRID = {"level": [1, 3, 5, 7, 9], "block": [4, 64, 256, 1024], "workers": [1, 2]}


class Child:
    """The instrument, over tuner-exec/1."""

    def __init__(self, tuner):
        self.process = subprocess.Popen([tuner, "thiscomputer"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.id = 0
        json.loads(self.process.stdout.readline())

    def ask(self, **request):
        self.id += 1
        self.process.stdin.write(json.dumps({"id": self.id, **request}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if answer.get("id") != self.id or not answer.get("ok"):
            sys.exit(f"the instrument answered {answer}")
        return answer["values"]

    def shot(self, setting):
        self.ask(op="write", values=setting, deadline_ms=5000)
        v = self.ask(op="read", channels=["throughput", "ratio"])
        return min(v["throughput"], LINK * v["ratio"])


def value(shots):
    """Mean-variance value of some shots."""
    return statistics.fmean(shots) - RISK * statistics.variance(shots)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tuner, run = sys.argv[1:]
    with open(run, encoding="utf-8") as lines:
        result = [json.loads(line) for line in lines][-1]
    found = {k: round(v) for k, v in result["recommended"].items()}
    child = Child(tuner)
    settings = [dict(zip(GRID, v)) for v in itertools.product(*GRID.values())]
    scored = [(value([child.shot(s) for _ in range(SHOTS)]), s) for s in settings]
    best = max(scored, key=lambda pair: pair[0])[1]
    ours, theirs = [], []
    for _ in range(AGAIN):
        ours.append(child.shot(found))
        theirs.append(child.shot(best))
    differences = [a - b for a, b in zip(ours, theirs)]
    error = statistics.stdev(differences) / math.sqrt(AGAIN)
    print(f"tuner  {found}: {statistics.fmean(ours):.2f} MB/s, sd {statistics.stdev(ours):.2f}, mean-variance {value(ours):.2f}")
    print(f"grid   {best}: {statistics.fmean(theirs):.2f} MB/s, sd {statistics.stdev(theirs):.2f}, mean-variance {value(theirs):.2f}")
    print(f"difference of the means over {AGAIN} alternating shots: {statistics.fmean(differences):+.2f} +- {error:.2f} MB/s (one standard error)")


if __name__ == "__main__":
    main()
