#!/usr/bin/env python3
"""Gittins indices of boxes whose values are mixtures of normal distributions, for the test of loop/policy/acquisition.

    python3 scripts/gittins_oracle.py > loop/policy/acquisition/testdata/gittins.json

By numpy (>= 1.24): g with E[max(f - g, 0)] = cost, the expectation by Gauss-Legendre quadrature over the upper
tail of each density, g by bisection to the last bits.
"""
import json

import numpy as np

NODES, WEIGHTS = np.polynomial.legendre.leggauss(400)


def gain(boxes, g):
    total = 0.0
    for weight, mean, sd in boxes:
        low = max(g, mean - 40 * sd)  # the gain is zero below g, the density is below 40 standard deviations
        high = max(mean, low) + 40 * sd
        for a, b in zip(np.linspace(low, high, 41)[:-1], np.linspace(low, high, 41)[1:]):
            f = (a + b) / 2 + (b - a) / 2 * NODES
            density = np.exp(-(((f - mean) / sd) ** 2) / 2) / (sd * np.sqrt(2 * np.pi))
            total += weight * (b - a) / 2 * np.sum(WEIGHTS * (f - g) * density)
    return total


def index(boxes, cost):
    low = sum(w * m for w, m, _ in boxes) - cost - 1
    high = max(m + 40 * s for _, m, s in boxes)
    for _ in range(100):
        middle = (low + high) / 2
        if gain(boxes, middle) > cost:
            low = middle
        else:
            high = middle
    return (low + high) / 2


rows = []
for boxes in ([(1, 0, 1)], [(1, -2.5, 0.3)], [(0.25, 0, 1), (0.75, 2, 0.2)], [(0.5, 0, 0.001), (0.3, -4, 2), (0.2, 1, 1e-6)]):
    for cost in (10, 1, 0.1, 1e-3, 1e-6, 1e-9, 1e-30, 1e-100):
        rows.append({"boxes": boxes, "cost": cost, "index": index(boxes, cost)})
print(json.dumps(rows, indent=1))
