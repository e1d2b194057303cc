"""A dense search for an optimum: many Sobol points, then descents from the best of them."""

import numpy as np

from problem import spread


def search(problem, points=2048, descents=4):
    from scipy.optimize import minimize

    def f(u):
        return problem.loss(problem.values(u))

    cube = spread(problem.d, points, seed=1)
    losses = np.array([f(u) for u in cube])
    best, where = float(losses.min()), cube[losses.argmin()]
    for i in np.argsort(losses)[:descents]:
        x = cube[i]
        for method in ("L-BFGS-B", "Nelder-Mead"):
            found = minimize(f, x, method=method, bounds=[(0, 1)] * problem.d)
            if found.fun < f(x):
                x = found.x
        if f(x) < best:
            best, where = float(f(x)), x
    # The printed setting is rounded, and the optimum is its loss.
    values = [float(f"{v:.8g}") for v in problem.values(where)]
    return float(problem.loss(values)), values
