"""BBOB's noisy suite and, with knobs that do nothing, BBOB's noise-free functions.

Finck, Hansen, Ros, Auger: Real-parameter black-box optimization benchmarking 2010, definitions of the noisy functions
(RR-6869); Hansen et al.: COCO (2021), doi 10.1080/10556788.2020.1808977. Each noisy function is a noise-free one with
one of three models of noise. The noise-free functions and their optima come from ioh (BSD 3-Clause); the noise is drawn
from the run's own stream, since that of coco-experiment's suite cannot be seeded. A test holds the readings against
that suite's.
"""

import random
from functools import lru_cache

import numpy as np

from problem import Knob, Problem, spread

SOURCE = "BBOB noisy suite (Finck et al. 2010), by ioh and coco-experiment (BSD 3-Clause)"
# Noise-free function under each block of three noisy ones: with Gaussian, uniform, and seldom Cauchy noise. 116 to 118
# have an ellipsoid of another condition than the noise-free suite, and are left out.
BASES = {101: 1, 104: 8, 107: 1, 110: 8, 113: 7, 119: 14, 122: 17, 125: 19, 128: 21}
SEVERE = 107  # from this function on
SHARES = {125: 0.1}  # of the distance from the optimum, where the suite counts less than the noise-free function
# function, variables, instance
NOISY = [(101, 2, 3), (103, 5, 5), (104, 3, 2), (107, 5, 4), (109, 3, 6), (110, 2, 7), (113, 5, 3), (113, 10, 2), (119, 5, 8),
         (119, 20, 3), (122, 10, 5), (123, 3, 4), (125, 5, 2), (128, 2, 6), (128, 10, 4), (101, 40, 5)]
# function, variables that act, variables in all
IDLE = [(8, 3, 10), (15, 3, 10), (21, 5, 20), (14, 5, 40), (3, 2, 5)]


@lru_cache
def base(function, d, instance):
    """The noise-free function, its least value, and where that is."""
    import ioh

    f = ioh.get_problem(function, instance, d, ioh.ProblemClass.BBOB)
    return f, float(f.optimum.y), [float(v) for v in f.optimum.x]


def scatter_of(function, d):
    """The suite's noise on a value above the optimum."""
    severe = function >= SEVERE
    kind = (function - 101) % 3

    def gaussian(above, rng):
        return above * np.exp((1.0 if severe else 0.01) * rng.standard_normal())

    def uniform(above, rng):
        alpha, beta = ((0.49 + 1 / d), 1.0) if severe else (0.01 * (0.49 + 1 / d), 0.01)
        return above * rng.random() ** beta * max(1.0, (1e9 / (above + 1e-99)) ** (alpha * rng.random()))

    def cauchy(above, rng):
        alpha, share = (1.0, 0.2) if severe else (0.01, 0.05)
        far = rng.standard_normal() / (abs(rng.standard_normal()) + 1e-199) if rng.random() < share else 0.0
        return above + alpha * max(0.0, 1000 + far)

    return [gaussian, uniform, cauchy][kind]


def sd_of(function):
    """How far Gaussian readings scatter, by the value above the optimum; the others have no standard deviation."""
    if (function - 101) % 3 != 0:
        return None
    beta = 1.0 if function >= SEVERE else 0.01
    return np.sqrt(np.expm1(beta**2) * np.exp(beta**2))


def noisy(function, d, instance):
    block = max(b for b in BASES if b <= function)
    f, least, best = base(BASES[block], d, instance)
    share = SHARES.get(block, 1.0)

    def loss(x):
        return least + share * (float(f(list(x))) - least)

    add, factor = scatter_of(function, d), sd_of(function)

    def scatter(loss, _values, rng):
        above = loss - least
        return least + (above if above < 1e-8 else add(above, rng) + 1.01e-8)

    return Problem(
        id=f"bbob-noisy/f{function}-d{d}", group=f"bbob-noisy/f{function}", source=SOURCE,
        knobs=[Knob(f"x{i + 1}", -5, 5) for i in range(d)], loss=loss, optimum=least, best=best,
        sd=lambda x: None if factor is None else factor * (loss(x) - least), scatter=scatter)


def idle(function, active, d, instance=2):
    """A function of a few of the knobs. One reading scatters by a twentieth of its distance from the optimum and by
    half a per cent of the median distance."""
    f, least, best = base(function, active, instance)
    chosen = sorted(random.Random(f"idle:{function}:{active}:{d}").sample(range(d), active))
    typical = float(np.median([f(list(10 * u - 5)) for u in spread(active, 512)])) - least

    def loss(x):
        return float(f([x[i] for i in chosen]))

    where = [0.0] * d
    for i, v in zip(chosen, best):
        where[i] = v
    return Problem(
        id=f"idle/f{function}-{active}of{d}", group=f"idle/f{function}", source=SOURCE,
        knobs=[Knob(f"x{i + 1}", -5, 5) for i in range(d)], loss=loss, optimum=least, best=where,
        sd=lambda x: 0.05 * (loss(x) - least) + 0.005 * typical)


def problems():
    return ({f"bbob-noisy/f{f}-d{d}": (f"bbob-noisy/f{f}", lambda f=f, d=d, i=i: noisy(f, d, i)) for f, d, i in NOISY}
            | {f"idle/f{f}-{k}of{d}": (f"idle/f{f}", lambda f=f, k=k, d=d: idle(f, k, d)) for f, k, d in IDLE})
