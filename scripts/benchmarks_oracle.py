#!/usr/bin/env python3
"""Writes loop/benchmarks/testdata/oracle.csv: values of the benchmarks' problems,
computed apart from the Go code with numpy and scipy.

    python3 scripts/benchmarks_oracle.py > loop/benchmarks/testdata/oracle.csv

Each line is: what, value, coordinates. What is meant by each name stands beside its
code below. Points are in the problems' own units.
"""

import csv
import json
import pathlib
import sys

import numpy as np
from scipy import linalg, optimize, stats

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = sys.stdout


def put(what, value, x=()):
    OUT.write(",".join([what, repr(float(value))] + [repr(float(v)) for v in x]) + "\n")


def points(n, low, high, seed):
    low, high = np.asarray(low, float), np.asarray(high, float)
    return low + (high - low) * np.random.default_rng(seed).random((n, len(low)))


def table(path):
    with open(path, newline="") as f:
        return [row for row in csv.reader(f) if row and not row[0].startswith("#")]


def airfoil():
    """Posterior mean of the Matern 5/2 process on the 1503 measurements."""
    data = np.array([[float(v) for v in row] for row in table(ROOT / "loop/benchmarks/cvs/data/airfoil_xy.csv")])
    hyper = json.loads((ROOT / "loop/benchmarks/cvs/data/airfoil_gp.json").read_text())
    x, y = data[:, :5], data[:, 5]
    scale = np.array(hyper["lengthscale"])

    def kernel(a, b):
        r = np.sqrt((((a[:, None, :] - b[None, :, :]) / scale) ** 2).sum(-1))
        u = np.sqrt(5) * r
        return hyper["outputscale"] * (1 + u + u * u / 3) * np.exp(-u)

    k = kernel(x, x) + hyper["noise_var"] * np.eye(len(y))
    weights = linalg.cho_solve(linalg.cho_factor(k, lower=True), y - hyper["mean"])
    for p in points(20, [0] * 5, [1] * 5, 1):
        put("airfoil", hyper["mean"] + (kernel(p[None], x) @ weights)[0], p)


def plant():
    """Standardised leaf area, in the model's own units."""
    rows = table(ROOT / "drivers/sim/data/plant_gp_mean.csv")[1:]
    data = np.array([[float(v) for v in row] for row in rows])
    scale = np.array([0.88916964326936132, 0.34337573631803098, 1.4236501226875462, 0.29328283036276254, 0.5712455450922358])

    def mean(p):
        r = (p - data[:, :5]) / scale
        return 0.7740745521564083 * (data[:, 5] * np.exp(-0.5 * (r * r).sum(1))).sum()

    low, high = [0, 0, 0, 8.9, 2.5], [7.7, 3.5, 10.4, 11.3, 6.5]
    for p in points(15, low, high, 2):
        put("plant", mean(p), p)
    best = max(
        (optimize.minimize(lambda p: -mean(p), z, method="L-BFGS-B", bounds=list(zip(low, high))) for z in data[:, :5]),
        key=lambda r: -r.fun,
    )
    put("plant-max", -best.fun)


def branin(x1, x2):
    a = x2 - 5.1 / (4 * np.pi**2) * x1**2 + 5 / np.pi * x1 - 6
    return a * a + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x1) + 10


def rahbo():
    """Mean-variance objectives with the variance rho^2, and their maxima."""

    def logistic(z):
        return 1 / (1 + np.exp(-z))

    for scale, alpha in [(1, 1), (2, 1), (1, 0.5)]:
        def mv(p):
            rho = (scale * logistic(2 * (p[0] - 3.2)) + 0.2) * (scale * logistic(2 * p[1]) + 0.2)
            return -branin(*p) - alpha * rho**2

        name = f"branin-{scale}" + ("" if alpha == 1 else f"-alpha-{alpha}")
        for p in points(5, [-5, 0], [10, 15], 3):
            put(name, mv(p), p)
        starts = [(9.42478, 2.475), (np.pi, 2.275), (-np.pi, 12.275)]
        found = [optimize.minimize(lambda p: -mv(p), z, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14}) for z in starts]
        put(name + "-max", max(-r.fun for r in found))
    for scale in (1, 2):
        def mv(x):
            return np.sin(2 * np.pi * x) - (scale * logistic(30 * (x - 1)) + 0.1) ** 2

        for x in points(5, [0], [2], 4)[:, 0]:
            put(f"sine-{scale}", mv(x), [x])
        r = optimize.minimize_scalar(lambda x: -mv(x), bounds=(0, 0.5), method="bounded", options={"xatol": 1e-12})
        put(f"sine-{scale}-max", -r.fun)


def fel():
    f = 7 * np.eye(4) + 3 * np.roll(np.eye(4), 1, axis=1)
    m1, m2 = np.array([0.14, 0.02, 0.12, -0.06]), np.array([-0.12, -0.04, -0.08, 0.10])

    def mv(x):
        g1, g2 = np.exp(-np.sum((f @ (x - m1)) ** 2)), np.exp(-np.sum((f @ (x - m2)) ** 2))
        rho = 0.04 + 0.5 * np.exp(-np.sum((x - m1) ** 2) / (2 * 0.12**2)) + 0.1 * (1 - g2)
        return 0.08 + g1 + 0.9 * g2 - rho**2

    for p in np.vstack([points(5, [-0.3] * 4, [0.3] * 4, 5), m1, m2]):
        put("fel", mv(p), p)
    r = optimize.differential_evolution(lambda x: -mv(x), [(-0.3, 0.3)] * 4, seed=6, tol=1e-12, maxiter=3000)
    put("fel-max", -r.fun)


def truncated():
    """Variance of the normal around 0.5 truncated to [0, 1], and some quantiles."""
    for sd in (0.141821, 0.213548, 0.906028):
        d = stats.truncnorm((0 - 0.5) / sd, (1 - 0.5) / sd, loc=0.5, scale=sd)
        put("truncated-variance", d.var(), [sd])
        for p in (0.001, 0.2, 0.5, 0.9):
            put("truncated-quantile", d.ppf(p), [sd, p])


def published():
    """The test functions of the randomised-confidence experiments, as maxima near the
    published places, polished."""
    functions = {
        "holder": (lambda p: abs(np.sin(p[0]) * np.cos(p[1]) * np.exp(abs(1 - np.hypot(*p) / np.pi))), (8.05502, 9.66459)),
        "cross-in-tray": (
            lambda p: 1e-4 * (abs(np.sin(p[0]) * np.sin(p[1]) * np.exp(abs(100 - np.hypot(*p) / np.pi))) + 1) ** 0.1,
            (1.3491, 1.3491),
        ),
    }
    for name, (f, near) in functions.items():
        for p in points(5, [-10, -10], [10, 10], 7):
            put(name, f(p), p)
        r = optimize.minimize(lambda p: -f(p), near, method="Nelder-Mead", options={"xatol": 1e-11, "fatol": 1e-15})
        put(name + "-max", -r.fun)
    for p in points(5, [-32.768] * 4, [32.768] * 4, 8):
        value = -20 * np.exp(-0.2 * np.sqrt((p**2).mean())) - np.exp(np.cos(2 * np.pi * p).mean()) + 20 + np.e
        put("ackley", -value, p)


def main():
    OUT.write("# written by scripts/benchmarks_oracle.py: what, value, coordinates\n")
    for part in (airfoil, plant, rahbo, fel, truncated, published):
        part()


if __name__ == "__main__":
    main()
