"""A problem of the arena: knobs, a true loss that is to be small, readings that scatter, and what a step costs."""

import random
import zlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Callable, Optional

import numpy as np

SCALE_POINTS = 512  # settings whose median loss is the scale of a problem's regrets


@dataclass(frozen=True)
class Knob:
    name: str
    low: float
    high: float
    unit: str = "1"


@dataclass(frozen=True)
class Cost:
    """What a step costs: a base and so much per unit of some knobs. Every step of Cost() costs 1."""

    base: float = 1.0
    per: dict = field(default_factory=dict)
    unit: str = "steps"


@dataclass
class Problem:
    """loss(values) is the truth, in the knobs' units; sd(values) is the standard deviation of one reading, None where
    there is none; scatter(loss, values, rng) gives a reading, and is Gaussian with sd where it is not given."""

    id: str
    group: str
    source: str
    knobs: list
    loss: Callable
    optimum: float
    sd: Callable
    best: Optional[list] = None  # a setting of the optimum, where one is known
    bound: bool = False  # the optimum is a lower bound: no setting need reach it
    cost: Cost = field(default_factory=Cost)
    scatter: Optional[Callable] = None

    @property
    def d(self):
        return len(self.knobs)

    @cached_property
    def low(self):
        return np.array([k.low for k in self.knobs])

    @cached_property
    def width(self):
        return np.array([k.high - k.low for k in self.knobs])

    def values(self, unit):
        """A point of the unit cube in the knobs' units, never beyond a range."""
        return self.low + self.width * np.clip(np.asarray(unit, float), 0, 1)

    def unit(self, values):
        return (np.asarray(values, float) - self.low) / self.width

    def reading(self, values, rng):
        loss = float(self.loss(values))
        if self.scatter:
            return float(self.scatter(loss, values, rng))
        return loss + float(self.sd(values)) * rng.standard_normal()

    def price(self, values):
        extra = sum(self.cost.per.get(k.name, 0) * v for k, v in zip(self.knobs, values))
        return float(self.cost.base + extra)

    @cached_property
    def price_mean(self):
        """The cost of a step at uniformly distributed settings: a budget of n steps is n times this."""
        return self.price(self.low + self.width / 2)

    @cached_property
    def scale(self):
        """The regret of the median setting: 1 % of it is what the profiles call 1 %."""
        return float(np.median([self.loss(self.values(u)) for u in spread(self.d, SCALE_POINTS)])) - self.optimum

    def start(self, seed):
        """Where every program finds the instrument; the same for all programs of a seed."""
        draw = random.Random(f"start:{self.id}:{seed}")
        return self.values([draw.random() for _ in self.knobs])

    def noise(self, seed):
        """The stream of the readings' scatter of a run."""
        return np.random.default_rng([zlib.crc32(self.id.encode()), seed])


def spread(d, n, seed=20261126):
    """n scrambled Sobol points of the unit cube."""
    from scipy.stats import qmc

    return qmc.Sobol(d, seed=seed).random(n)
