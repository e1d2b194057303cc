#!/usr/bin/env python3
"""Logarithms of expected improvement and of the probability of improvement, for the test of loop/policy/acquisition.

    python3 scripts/improvement_oracle.py > loop/policy/acquisition/testdata/improvement.json

By mpmath (>= 1.3) with 400 digits. With z = mean/sd: improvement sd (z Phi(z) + phi(z)), exceedance Phi(z); each
with its derivatives by mean and sd.
"""
import json

from mpmath import erfc, exp, log, mp, mpf, pi, sqrt

mp.dps = 400
rows = []
for sd in ("1", "0.001"):
    for z in ("4", "1", "0", "-1", "-3", "-4.999", "-5", "-5.001", "-7.5", "-12", "-20", "-36", "-38", "-40", "-100", "-1000", "-1e5", "-1e8"):
        s, z = mpf(sd), mpf(z)
        density = exp(-z * z / 2) / sqrt(2 * pi)
        below = erfc(-z / sqrt(2)) / 2
        gain = z * below + density  # of 400 digits 17 cancel at -1e8
        rows.append({"mean": float(z * s), "sd": float(s),
                     "improvement": [float(log(s * gain)), float(below / (s * gain)), float(density / (s * gain))],
                     "exceedance": [float(log(below)), float(density / below / s), float(-z * density / below / s)]})
print(json.dumps(rows, indent=1))
