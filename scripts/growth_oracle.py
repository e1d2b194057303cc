#!/usr/bin/env python3
"""Writes drivers/sim/testdata/growth_oracle.csv: values of the growth plant's mean
and its averages, computed apart from the Go code, with Python's standard library.

    python3 scripts/growth_oracle.py > drivers/sim/testdata/growth_oracle.csv

The constants come from the header of the data file, not from the Go source. A
point is given on the unit cube. Averages are over control sets' random variables,
by Simpson's rule with 2000 intervals on each axis; the sum over the model's points
makes them products of one-dimensional integrals, for the area's square over pairs
of points.
"""

import itertools
import math
import pathlib
import re
import sys

DATA = pathlib.Path(__file__).resolve().parent.parent / "drivers/sim/data/plant_gp_mean.csv"
INTERVALS = 2000

# What a random axis does, on the unit cube: None is controlled, () uniform, (mean,
# sd) a normal distribution truncated to [0, 1].
CASES = [
    (None, None, (), (), ()),
    (None, (), None, (0.5, 0.2), None),
    ((0.5, 0.2), (0.3, 0.05), (0.9, 0.4), (0.5, 0.2), ()),
    ((1.4, 0.3), None, None, None, (-0.2, 0.1)),
]


def read():
    """Returns the points on the unit cube, their weights, lengthscales, slope, offset."""
    lines = DATA.read_text().splitlines()
    header = lines[1]

    def numbers(pattern):
        return [float(x) for x in re.search(pattern, header).group(1).split(",")]

    variance = numbers(r"variance=(\S+)")[0]
    scales = numbers(r"lengthscales=(\S+)")
    low = numbers(r"bounds_lo=\[([^]]*)\]")
    high = numbers(r"bounds_hi=\[([^]]*)\]")
    slope = numbers(r"area=mean\*([0-9.]+)")[0]
    offset = numbers(r"area=mean\*[0-9.]+\+(\S+)")[0]
    span = [b - a for a, b in zip(low, high)]
    points, weights = [], []
    for line in lines[3:]:
        row = [float(x) for x in line.split(",")]
        points.append([(x - a) / s for x, a, s in zip(row, low, span)])
        weights.append(variance * row[5])
    return points, weights, [l / s for l, s in zip(scales, span)], slope, offset


def kernel(x, z, scale):
    return math.exp(-0.5 * ((x - z) / scale) ** 2)


def simpson(f):
    h = 1 / INTERVALS
    return h / 3 * math.fsum(
        (1 if i in (0, INTERVALS) else 4 if i % 2 else 2) * f(i * h) for i in range(INTERVALS + 1)
    )


def density(axis):
    if axis == ():
        return lambda x: 1.0
    mean, sd = axis
    total = simpson(lambda x: math.exp(-0.5 * ((x - mean) / sd) ** 2))
    return lambda x: math.exp(-0.5 * ((x - mean) / sd) ** 2) / total


class Plant:
    def __init__(self):
        self.points, self.weights, self.scales, self.slope, self.offset = read()

    def factor(self, i, axis, x, zs, cache):
        """Product of kernels at the coordinates zs of axis i, averaged if it is random."""
        key = (i, axis, x, zs)
        if key not in cache:
            product = lambda t: math.prod(kernel(t, z, self.scales[i]) for z in zs)
            if axis is None:
                cache[key] = product(x)
            else:
                p = density(axis)
                cache[key] = simpson(lambda t: p(t) * product(t))
        return cache[key]

    def moments(self, u, axes):
        """Returns the averages of area and of its square."""
        cache = {}
        single = math.fsum(
            w * math.prod(self.factor(i, axes[i], u[i], (z[i],), cache) for i in range(5))
            for w, z in zip(self.weights, self.points)
        )
        pairs = zip(itertools.product(self.weights, repeat=2), itertools.product(self.points, repeat=2))
        double = math.fsum(
            v * w * math.prod(self.factor(i, axes[i], u[i], tuple(sorted((y[i], z[i]))), cache) for i in range(5))
            for (v, w), (y, z) in pairs
        )
        area = self.slope * single + self.offset
        return area, self.slope**2 * double + 2 * self.slope * self.offset * single + self.offset**2


def spread(n):
    """Point n of a sequence that fills the cube: inverses in the first five prime bases."""
    u = []
    for base in (2, 3, 5, 7, 11):
        x, scale, k = 0.0, 1.0, n
        while k:
            scale /= base
            x += (k % base) * scale
            k //= base
        u.append(x)
    return u


def main():
    plant = Plant()
    controlled = (None,) * 5
    points = [spread(n) for n in range(1, 25)]
    points += [[0.0] * 5, [1.0] * 5, [0.9476, 0.98114, 0.6643, 0.22462, 0.74984], [0.1, 1.0, 0.58, 0.036, 0.56]]
    out = sys.stdout
    out.write("# written by scripts/growth_oracle.py: case, point on the unit cube, E area (mm2), E area^2 (mm4)\n")
    out.write("# case 0 has every variable controlled; case n averages over the axes of CASES[n-1] there\n")
    for case, axes in enumerate([controlled] + CASES):
        for u in points if case == 0 else points[:3] + points[-2:-1]:
            area, square = plant.moments(u, axes)
            out.write(",".join([str(case)] + [repr(x) for x in u + [area, square]]) + "\n")


if __name__ == "__main__":
    main()
