#!/usr/bin/python3
"""Decisions by scikit-learn and by plain numpy, the comparators of scripts/compare.

Reads one job a line from the standard input and answers with the median execution, in microseconds of the
processor's time, of as many as fit into 50 ms (at least one):

    sklearn N        UCB in three dimensions: fit with fixed hyperparameters, 4096 candidates, 5 climbs
    numpy D N        UCB-CVS with 7 control sets in D = 3 or 5 dimensions: 1024 samples, 5 climbs a set; the posterior
                     at every sample as the textbook writes it
    factored D N     the same, where the samples' factor of the covariances is computed once a control set and
                     L is inverted once a decision

Climbs are scipy's L-BFGS-B with difference gradients. One thread: run it with OPENBLAS_NUM_THREADS=1.
"""

import time
from functools import partial

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from scipy.stats import truncnorm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

from serve import serve, timed

LENGTHSCALE, NOISE, BETA, STARTS = 0.3, 0.01, 2.0, 5
SETS = {
    3: [[0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]],
    5: [[0, 1], [2, 3], [0, 4], [0, 1, 2], [2, 3, 4], [1, 2, 3, 4], [0, 1, 2, 3, 4]],
}


def world(d, n, clustered):
    """n points of the unit cube, half of them near one where asked for, and a smooth function of them."""
    rng = np.random.default_rng(n + d)
    x = rng.random((n, d))
    if clustered:
        x[::2] = np.clip(rng.random(d) + 0.1 * rng.standard_normal((len(x[::2]), d)), 0, 1)
    wave, phase = rng.standard_normal((200, d)) / LENGTHSCALE, 2 * np.pi * rng.random(200)
    y = np.cos(x @ wave.T + phase) @ rng.standard_normal(200) * np.sqrt(2 / 200)
    return rng, x, y + np.sqrt(NOISE) * rng.standard_normal(n)


def climb(value, start):
    """the largest value found from a start"""
    return -minimize(lambda x: -value(x), start, method="L-BFGS-B", bounds=[(0, 1)] * len(start)).fun


def sklearn_step(n):
    rng, x, y = world(3, n, clustered=False)
    candidates = rng.random((4096, 3))

    def step():
        gp = GaussianProcessRegressor(kernel=RBF(LENGTHSCALE), alpha=NOISE, optimizer=None).fit(x, y)

        def ucb(points):
            mean, sd = gp.predict(points, return_std=True)
            return mean + BETA * sd

        best = np.argsort(ucb(candidates))[-STARTS:]
        return max(climb(lambda p: ucb(p[None])[0], candidates[i]) for i in best)

    return step


def covariances(x, points):
    return np.exp(-0.5 / LENGTHSCALE**2 * cdist(x, points, "sqeuclidean"))


def plain(x, l, alpha, controlled, random, samples):
    """mean + BETA sd at a setting and each sample, averaged"""
    points = np.empty((len(samples), x.shape[1]))
    points[:, random] = samples

    def acquisition(c):
        points[:, controlled] = c
        k = covariances(x, points)
        v = solve_triangular(l, k, lower=True, check_finite=False)
        sd = np.sqrt(np.maximum(1 - np.einsum("ij,ij->j", v, v), 0))
        return (k.T @ alpha + BETA * sd).mean()

    return acquisition


def factored(x, l, alpha, controlled, random, samples):
    """the same with what does not depend on the setting computed beforehand"""
    w = solve_triangular(l, np.eye(len(l)), lower=True)
    s = covariances(x[:, random], samples) if random else np.ones((len(x), 1))

    def acquisition(c):
        near = covariances(x[:, controlled], c[None])[:, 0]
        v = (w * near) @ s
        sd = np.sqrt(np.maximum(1 - np.einsum("ij,ij->j", v, v), 0))
        return ((near * alpha) @ s + BETA * sd).mean()

    return acquisition


def numpy_decision(scheme, d, n):
    rng, x, y = world(d, n, clustered=True)
    law = truncnorm(-0.5 / 0.2, 0.5 / 0.2, 0.5, 0.2)

    def decide():
        l = np.linalg.cholesky(covariances(x, x) + NOISE * np.eye(n))
        alpha = cho_solve((l, True), y)
        best = []
        for controlled in SETS[d]:
            random = [i for i in range(d) if i not in controlled]
            samples = law.rvs((1024 if random else 1, len(random)), random_state=rng)
            acquisition = scheme(x, l, alpha, controlled, random, samples)
            best.append(max(climb(acquisition, rng.random(len(controlled))) for _ in range(STARTS)))
        return best

    return decide


JOBS = {"sklearn": sklearn_step, "numpy": partial(numpy_decision, plain), "factored": partial(numpy_decision, factored)}


if __name__ == "__main__":
    serve(lambda name, *numbers: timed(JOBS[name](*map(int, numbers)), time.thread_time))
