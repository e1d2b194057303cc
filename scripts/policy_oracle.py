#!/usr/bin/python3
"""Independent numbers for the tests of loop/policy, from numpy and scipy (>= 1.10).

    /usr/bin/python3 scripts/policy_oracle.py > loop/policy/testdata/oracle.json

Nothing here calls tuner: quantiles and special functions are scipy's; the Gaussian processes are written out with dense solves.
"""
import json
import math

import numpy as np
from scipy import special, stats


def se(a, b, ls):
    r2 = (((a[:, None, :] - b[None, :, :]) / ls) ** 2).sum(-1)
    return np.exp(-0.5 * r2)


def matern52(a, b, ls):
    r = np.sqrt(5 * (((a[:, None, :] - b[None, :, :]) / ls) ** 2).sum(-1))
    return (1 + r + r * r / 3) * np.exp(-r)


def prior_kernel(name, ls):
    """The kernels of variance one that compete, by their formulas; linear with its small constant."""
    def r2(a, b):
        return (((a[:, None, :] - b[None, :, :]) / ls) ** 2).sum(-1)

    def matern32(a, b):
        q = np.sqrt(3 * r2(a, b))
        return (1 + q) * np.exp(-q)

    def periodic(a, b):
        return np.exp(-2 * (np.sin(np.pi * (a[:, None, :] - b[None, :, :]) / ls) ** 2).sum(-1))

    return {"se": lambda a, b: se(a, b, ls), "matern52": lambda a, b: matern52(a, b, ls), "matern32": matern32,
            "rq": lambda a, b: (1 + r2(a, b)) ** -0.5, "periodic": periodic,
            "linear": lambda a, b: (a / ls) @ (b / ls).T + 1e-6}[name]


def posterior(kernel, x, y, noise, at):
    """Mean and standard deviation of a zero-mean process at the rows of at."""
    k = kernel(x, x) + np.diag(noise)
    c = kernel(x, at)
    solved = np.linalg.solve(k, c)
    mean = solved.T @ y
    variance = np.diag(kernel(at, at)) - (c * solved).sum(0)
    return mean, np.sqrt(np.maximum(variance, 0))


def quantiles():
    out = []
    for mean, sd in [(0.5, 0.2), (0.1, 0.05), (1.3, 0.4), (-2.0, 0.5), (3.0, 0.4), (0.5, 9.0)]:
        a, b = (0 - mean) / sd, (1 - mean) / sd
        for p in [1e-6, 0.01, 0.3, 0.5, 0.9, 0.999999]:
            out.append([mean, sd, p, float(stats.truncnorm.ppf(p, a, b, loc=mean, scale=sd))])
    return out


def gammas():
    return [[x, float(special.digamma(x)), float(special.polygamma(1, x))] for x in [0.5, 1, 1.5, 2, 4.5, 12, 49.5]]


def set_bounds(c, nodes, kernel, data, noise_bound, constants):
    """The optimistic and the pessimistic bound of the mean-variance objective where the first variable is held at c and the
    second is uniform: MV = E f - alpha (E v + Var f), with sd f within sd mu -+ beta sqrt(E s^2). The last of the constants is
    alpha times how often the spread counts, beside alpha itself."""
    at, w = nodes
    points = np.stack([np.full_like(at, c), at], axis=1)
    m, s = posterior(kernel, *data, points)
    mean, scale, beta, (alpha, spread_alpha) = constants
    average = w @ m
    sd, wide = math.sqrt(w @ (m - average) ** 2), math.sqrt(w @ s**2)
    for u in (np.ones_like(s), -np.ones_like(s), np.sign(m - average), -np.sign(m - average), np.cos(9 * at)):  # |f - mu| <= beta s
        f = m + beta * s * u
        assert max(sd - beta * wide, 0) <= math.sqrt(w @ (f - w @ f) ** 2) <= sd + beta * wide
    out = []
    for sign in (1, -1):
        v, end = w @ noise_bound(points, -sign * beta), max(sd - sign * beta * wide, 0)
        out.append(float(mean + scale * (average + sign * beta * (w @ s)) - scale**2 * (alpha * v + spread_alpha * end**2)))
    return out


def risk(model):
    """RAHBO's optimistic and pessimistic bounds with fixed hyperparameters."""
    rng = np.random.default_rng(5)
    ls, outputscale, mean, beta, alpha = np.array([0.3, 0.5]), 4.0, 1.5, 2.0, 0.7
    n = 14
    x = rng.random((n, 2))
    k = rng.integers(3, 12, n)
    sd = 0.2 + 1.5 * x[:, 0]
    shots = [1.5 + 2 * np.sin(4 * x[i].sum()) + sd[i] * rng.standard_normal(k[i]) for i in range(n)]
    y = np.array([s.mean() for s in shots])
    s2 = np.array([s.var(ddof=1) for s in shots])
    at = rng.random((5, 2))
    scale = np.sqrt(outputscale)
    z, v = (y - mean) / scale, s2 / scale**2
    if model == "log":
        half = (k - 1) / 2
        target = np.log(v) - (special.digamma(half) - np.log(half))
        centre, spread = target.mean(), 1.0
        noise = special.polygamma(1, half)
        to_variance = np.exp
    else:
        centre, spread = v.mean(), v.std(ddof=1)
        target, noise = v, np.full(n, 0.5)

        def to_variance(t):
            return np.maximum(t, 0)

    kernel = lambda a, b: matern52(a, b, ls)
    t = (target - centre) / spread

    def bound(points, b):
        m, s = posterior(kernel, x, t, noise, points)
        return to_variance(centre + spread * (m + b * s))

    floor = 1e-3 * np.sort(v)[n // 2]
    rho2 = np.clip(bound(x, beta), floor, v.max()) / k
    m, s = posterior(kernel, x, z, rho2, at)
    delta, norm = 0.1, 1.5

    def lemma(noise_variance):
        """RAHBO's Lemma 1 with lambda = 1, by determinants as it is written."""
        sigma = np.diag(noise_variance)
        gram = kernel(x, x)
        ratio = np.sqrt(np.linalg.det(sigma + gram)) / (delta * np.sqrt(np.linalg.det(sigma)))
        return float(np.sqrt(2 * np.log(ratio)) + norm)

    upper = mean + scale * (m + beta * s) - alpha * outputscale * bound(at, -beta)
    lower = mean + scale * (m - beta * s) - alpha * outputscale * bound(at, beta)
    out = {}
    if model == "log":  # raw variances are refused where something is left alone
        held, nodes = rng.random(4), gauss(lambda v: np.ones_like(v))
        out = {"held": held.tolist(), "inflation": float(k[:-1].mean()),
               "sets": [[set_bounds(c, nodes, kernel, (x, z, rho2), bound, (mean, scale, beta, (alpha, alpha * h))) for c in held]
                        for h in (1, k[:-1].mean())]}
    return out | {"lengthscale": ls.tolist(), "outputscale": outputscale, "mean": mean, "beta": beta, "alpha": alpha,
            "x": x.tolist(), "y": y.tolist(), "s2": s2.tolist(), "shots": k.tolist(), "at": at.tolist(),
            "optimistic": upper.tolist(), "pessimistic": lower.tolist(),
            "delta": delta, "norm": norm, "lemma": lemma(rho2), "noise_lemma": lemma(noise)}


def confidences():
    """What the papers' formulas give, and moments of what they draw."""
    b = math.sqrt(2) / 0.2  # of a lengthscale of 0.2
    cases = []
    for d, size, t, delta in [(3, 1000, 1, 0.05), (3, 1000, 40, 0.05), (1, 500, 500, 0.05), (5, 94, 7, 0.3), (2, 2, 1, 0.9)]:
        gamma = stats.gamma(a=math.log(size * t**2) / math.log(1.5))
        flat = stats.gamma(a=0.2 * d * math.log(2 * t))
        inner = b * d * t**2 * (math.sqrt(math.log(d)) + math.sqrt(math.pi) / 2)
        cases.append({
            "d": d, "size": size, "t": t, "delta": delta,
            "heuristic": math.sqrt(0.2 * d * math.log(2 * t)),
            "srinivas_finite": math.sqrt(2 * math.log(size * t**2 * math.pi**2 / (6 * delta))),
            "srinivas_continuous": math.sqrt(2 * math.log(t**2 * 2 * math.pi**2 / (3 * delta))
                                             + 2 * d * math.log(t**2 * d * b * math.sqrt(math.log(4 * d / delta)))),
            "srinivas_all_priors": math.sqrt(2 * math.log(2 * size * 6 * math.pi**2 * t**2 / (3 * delta))),  # |P| = 6
            "srinivas_expected": math.sqrt(2 * max(math.log(size * t**2 / math.sqrt(2 * math.pi)), 0)),
            "irgp_high_probability": 2 * math.log(size * t**2 * math.pi**2 / (12 * delta)),
            "irgp_finite": 2 * math.log(size / 2), "irgp_continuous": d / 2,
            "irgp_theory": 2 * d * math.log(inner) - 2 * math.log(2),
            "rgp_finite": [float(gamma.mean()), float(gamma.std())],
            "rgp_continuous": [float(flat.mean()), float(flat.std())]})
    return cases


def priors():
    """Bayes' rule over priors by their evidence, and the mixture of their posteriors."""
    rng = np.random.default_rng(12)
    n, beta = 9, 2.0
    x, at = rng.random((n, 2)), rng.random((5, 2))
    shots = rng.integers(1, 4, n)
    y = 1 + np.sin(3 * x[:, 0]) + 0.5 * x[:, 1] + 0.3 * rng.standard_normal(n)
    out = [{"kernel": k, "lengthscale": ls, "outputscale": v, "noise_sd": s, "mean": m, "weight": w} for k, ls, v, s, m, w in [
        ("se", [0.5, 0.9], 1.5, 0.4, 1.0, 1.0), ("matern32", [0.8, 0.8], 1.0, 0.5, 1.2, 2.0),
        ("rq", [0.6, 0.6], 2.0, 0.3, 0.5, 1.0), ("periodic", [1.7, 2.5], 1.0, 0.5, 1.0, 0.5),
        ("linear", [1.0, 0.7], 0.8, 0.6, 1.1, 3.0)]]
    logs, means, sds = [], [], []
    for p in out:
        unit = prior_kernel(p["kernel"], np.array(p["lengthscale"]))
        kernel = lambda a, b: p["outputscale"] * unit(a, b)
        noise = p["noise_sd"] ** 2 / shots
        logs.append(math.log(p["weight"]) + stats.multivariate_normal(np.full(n, p["mean"]), kernel(x, x) + np.diag(noise)).logpdf(y))
        m, s = posterior(kernel, x, y - p["mean"], noise, at)
        means.append(p["mean"] + m)
        sds.append(s)
    w = np.exp(np.array(logs) - max(logs))
    w /= w.sum()
    means, sds = np.array(means), np.array(sds)
    mean = w @ means
    return {"beta": beta, "priors": out, "x": x.tolist(), "y": y.tolist(), "shots": shots.tolist(), "at": at.tolist(),
            "probability": w.tolist(), "mean": mean.tolist(),
            "sd": np.sqrt(w @ (sds**2 + (means - mean) ** 2)).tolist(), "upper": (w @ (means + beta * sds)).tolist()}


def gauss(density, n=96):
    """Nodes and weights on [0, 1] for a density that need not be normalised."""
    t, w = np.polynomial.legendre.leggauss(n)
    t = (t + 1) / 2
    w = w * density(t)
    return t, w / w.sum()


def expectation():
    """E[mean + beta sd] by dense tensor quadrature: 96 nodes per dimension."""
    rng = np.random.default_rng(8)
    ls, noise, beta = np.array([0.25, 0.2, 0.3]), 1e-2, 2.0
    x = rng.random((30, 3))
    y = np.sin(7 * x[:, 0]) * np.cos(5 * x[:, 1]) + x[:, 2] ** 2 + 0.1 * rng.standard_normal(30)
    kernel = lambda a, b: se(a, b, ls)
    normal = [(0.5, 0.2), (0.3, 0.15), (0.6, 0.4)]
    rules = [gauss(lambda t, m=m, s=s: np.exp(-0.5 * ((t - m) / s) ** 2)) for m, s in normal]
    cases = []
    for controlled in ([0, 1], [2], [0]):
        random = [i for i in range(3) if i not in controlled]
        grids = np.meshgrid(*[rules[i][0] for i in random], indexing="ij")
        weights = np.ones_like(grids[0])
        for g in np.meshgrid(*[rules[i][1] for i in random], indexing="ij"):
            weights = weights * g
        for _ in range(3):
            at = rng.random(len(controlled))
            points = np.empty((weights.size, 3))
            for j, i in enumerate(controlled):
                points[:, i] = at[j]
            for g, i in zip(grids, random):
                points[:, i] = g.ravel()
            value = 0.0
            for part, w in zip(np.array_split(points, 12), np.array_split(weights.ravel(), 12)):
                m, s = posterior(kernel, x, y, np.full(30, noise), part)
                value += float(w @ (m + beta * s))
            cases.append({"controlled": controlled, "at": at.tolist(), "value": value})
    return {"lengthscale": ls.tolist(), "noise_variance": noise, "beta": beta, "normal": normal,
            "x": x.tolist(), "y": y.tolist(), "cases": cases}


print(json.dumps({"quantiles": quantiles(), "gammas": gammas(), "log": risk("log"),
                  "raw": risk("raw"), "expectation": expectation(), "confidences": confidences(), "priors": priors()}))
