#!/usr/bin/python3
"""Write gpcore/testdata/sklearn.json: posteriors, likelihoods and gradients by scikit-learn.

Run from the repository's root with Debian's python3-sklearn:

    /usr/bin/python3 scripts/gpcore_oracle.py

The Go test TestScikitLearn rebuilds each kernel from its "kernel" entry and compares. Hyperparameters and
gradients are in gpcore's order: variance, lengthscales, then the rest.
"""

import json
import sys

import numpy as np
import sklearn
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    RationalQuadratic,
    RBF,
)

LENGTHSCALES = [0.3, 0.7, 1.1]


def cases():
    """Name, scikit-learn kernel, gpcore's description, and the map of gradients.

    The map gives for each of gpcore's parameters the index in scikit-learn's theta and the factor between the
    logarithms' derivatives. None: scikit-learn has one parameter for this one and the last that is not None; their
    gradients add up to its own.
    """
    ard = list(range(4))
    straight = [[i, 1.0] for i in ard]
    yield ("squared exponential", ConstantKernel(1.7) * RBF(LENGTHSCALES),
           {"family": "se", "variance": 1.7, "lengthscales": LENGTHSCALES}, straight)
    yield ("matern 5/2", ConstantKernel(0.8) * Matern(LENGTHSCALES, nu=2.5),
           {"family": "matern52", "variance": 0.8, "lengthscales": LENGTHSCALES}, straight)
    yield ("matern 3/2", ConstantKernel(0.8) * Matern(LENGTHSCALES, nu=1.5),
           {"family": "matern32", "variance": 0.8, "lengthscales": LENGTHSCALES}, straight)
    yield ("rational quadratic", ConstantKernel(1.2) * RationalQuadratic(length_scale=0.6, alpha=0.5),
           {"family": "rq", "variance": 1.2, "lengthscales": [0.6] * 3, "shape": 0.5},
           [[0, 1.0], [2, 1.0], None, None, [1, 1.0]])
    # k(x, x') = constant * x.x' is linear with three equal variances.
    yield ("linear", ConstantKernel(0.4) * DotProduct(sigma_0=0.0, sigma_0_bounds="fixed"),
           {"family": "linear", "variances": [0.4] * 3}, [[0, 1.0], None, None])
    yield ("sum and product",
           ConstantKernel(1.7) * RBF(LENGTHSCALES) * Matern(LENGTHSCALES, nu=1.5)
           + ConstantKernel(0.4) * Matern(LENGTHSCALES, nu=2.5),
           {"family": "compound", "variance": 1.7, "lengthscales": LENGTHSCALES, "variances": [0.4]}, [])


def one_dimensional():
    # exp(-2 sin^2(pi r/p)/l^2): gpcore's softness is l^2, so d/dlog(l) = 2 d/dlog(softness).
    yield ("periodic", ConstantKernel(1.3) * ExpSineSquared(length_scale=0.9, periodicity=0.45),
           {"family": "periodic", "variance": 1.3, "softness": [0.81], "periods": [0.45]},
           [[0, 1.0], [1, 0.5], [2, 1.0]])
    yield ("drift", ConstantKernel(1.0, "fixed") * Matern(0.6, nu=0.5),
           {"family": "drift", "timescale": 0.6}, [[0, 1.0]])


def solve(rng, name, kernel, description, gradient_map, d):
    n, m = 40, 25
    x, test = rng.uniform(size=(n, d)), rng.uniform(size=(m, d))
    y = np.sin(5 * x[:, 0]) + 0.3 * rng.normal(size=n)
    noise = rng.uniform(0.01, 0.2, size=n)
    gp = GaussianProcessRegressor(kernel, alpha=noise, optimizer=None).fit(x, y)
    mean, cov = gp.predict(test, return_cov=True)
    value, gradient = gp.log_marginal_likelihood(gp.kernel_.theta, eval_gradient=True)
    mapped = [None if e is None else float(gradient[e[0]] * e[1]) for e in gradient_map]
    return {
        "name": name, "kernel": description, "d": d, "x": x.ravel().tolist(), "y": y.tolist(), "noise": noise.tolist(),
        "test": test.ravel().tolist(), "mean": mean.tolist(), "covariance": cov.ravel().tolist(),
        "log_likelihood": float(value), "gradient": mapped,
    }


def main():
    rng = np.random.default_rng(7)
    out = [solve(rng, *case, d=3) for case in cases()] + [solve(rng, *case, d=1) for case in one_dimensional()]
    with open("gpcore/testdata/sklearn.json", "w", encoding="utf-8") as f:
        json.dump({"scikit-learn": sklearn.__version__, "numpy": np.__version__, "cases": out}, f, indent=None)
        f.write("\n")
    print(f"gpcore/testdata/sklearn.json: {len(out)} cases", file=sys.stderr)


if __name__ == "__main__":
    main()
