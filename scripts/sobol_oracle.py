#!/usr/bin/python3
"""Points of Sobol's sequence for the test of gpcore/sobol, from scipy (>= 1.10).

    /usr/bin/python3 scripts/sobol_oracle.py > gpcore/sobol/testdata/scipy.json
"""
import json

from scipy.stats import qmc

s = qmc.Sobol(d=40, scramble=False, bits=32)
first = s.random(64)
s.fast_forward(1000 - 64)
print(json.dumps({"first": first[:16].tolist(), "from1000": s.random(2).tolist()}))
