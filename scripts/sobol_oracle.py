#!/usr/bin/env python3
"""Points of Sobol's sequence for the test of gpcore/sobol, from scipy (>= 1.10).

    python3 scripts/sobol_oracle.py > gpcore/sobol/testdata/scipy.json
"""
import json

from scipy.stats import qmc

DIMS = 257  # as scripts/sobol_table.py
s = qmc.Sobol(d=DIMS, scramble=False, bits=32)
first = s.random(16)
s.fast_forward(1000 - 16)
print(json.dumps({"first": first.tolist(), "from1000": s.random(2).tolist()}))
