"""Real measurements, as tables that PyPI's olymp carries (MIT; Häse et al., Olympus, doi 10.1088/2632-2153/abedc8).

The truth between measured settings is a weighted mean of the nearest ones (inverse distance), so that it passes
through the mean at each measured setting and no setting is better than the best measured one. Where settings were
measured repeatedly a reading scatters as those did, weighted in the same way; elsewhere by 1 % of the table's span
and 3 % of the distance from the best, which is stated and not measured.
"""

import csv
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from packaged import located
from problem import Cost, Knob, Problem

NEIGHBOURS = 8
REPEATED = 20  # settings that must have been measured more than once for their scatter to be taken


@dataclass(frozen=True)
class Table:
    folder: str
    knobs: list
    cite: str
    larger: bool  # more is better
    cost: Cost = field(default_factory=Cost)


TABLES = {
    "table/alkox": Table("alkox", [Knob("catalase", 0.05, 1), Knob("peroxidase", 0.5, 10), Knob("alcohol_oxidase", 2, 8), Knob("ph", 6, 8)],
                         "Häse et al. 2021, doi 10.1088/2632-2153/abedc8", True),
    "table/fullerenes": Table("fullerenes", [Knob("reaction_time", 3, 31, "min"), Knob("sultine", 1.5, 6), Knob("temperature", 100, 150, "degC")],
                              "Walker et al. 2017, doi 10.1039/C7RE00123A", True, Cost(5, {"reaction_time": 1}, "min")),
    "table/hplc": Table("hplc", [Knob("sample_loop", 0, 0.08, "ml"), Knob("additional_volume", 0, 0.06, "ml"), Knob("tubing_volume", 0.1, 0.9, "ml"),
                                 Knob("sample_flow", 0.5, 2.5, "ml/min"), Knob("push_speed", 80, 150, "Hz"), Knob("wait_time", 0.5, 10, "s")],
                        "Roch et al. 2018, doi 10.26434/chemrxiv.5953606", True, Cost(60, {"wait_time": 6}, "s")),
    "table/suzuki": Table("suzuki", [Knob("temperature", 75, 90, "degC"), Knob("palladium", 0.5, 5, "mol%"), Knob("boronate", 1, 1.8), Knob("phosphate", 1.5, 3)],
                          "Häse et al. 2021, doi 10.1088/2632-2153/abedc8", True, Cost(1, {"palladium": 0.4}, "EUR")),
    "table/benzylation": Table("benzylation", [Knob("flow_rate", 0.2, 0.4, "ml/min"), Knob("ratio", 1, 5), Knob("solvent", 0.5, 1), Knob("temperature", 110, 150, "degC")],
                               "Schweidtmann et al. 2018, doi 10.1016/j.cej.2018.07.031", False),
    "table/snar": Table("snar", [Knob("residence_time", 0.5, 2, "min"), Knob("ratio", 1, 5), Knob("concentration", 0.1, 0.5, "M"), Knob("temperature", 60, 140, "degC")],
                        "Schweidtmann et al. 2018, doi 10.1016/j.cej.2018.07.031", False),
    "table/colours": Table("colors_bob", [Knob(c, 0, 1) for c in ("red", "orange", "yellow", "blue", "green")],
                           "Roch et al. 2018, doi 10.26434/chemrxiv.5953606", False),
}


class Measured:
    """The means of a table over its settings, and how they are carried between them."""

    def __init__(self, table):
        with open(located("olymp", f"olympus/datasets/dataset_{table.folder}/data.csv"), encoding="utf-8") as f:
            rows = [tuple(map(float, row)) for row in csv.reader(f) if row]
        met = defaultdict(list)
        for *setting, value in rows:
            met[tuple(setting)].append(-value if table.larger else value)
        self.settings = np.array(list(met))
        self.low = np.array([k.low for k in table.knobs])
        self.width = np.array([k.high - k.low for k in table.knobs])
        self.points = (self.settings - self.low) / self.width
        self.means = np.array([np.mean(v) for v in met.values()])
        self.best = int(np.argmin(self.means))
        self.span = float(np.ptp(self.means))
        again = np.array([len(v) > 1 for v in met.values()])
        sds = np.array([np.std(v, ddof=1) if len(v) > 1 else 0.0 for v in met.values()])
        self.again = again if again.sum() >= REPEATED and sds[again].mean() > 0 else None
        self.sds = sds

    def carried(self, x, points, numbers):
        distance = np.sum((points - (np.asarray(x, float) - self.low) / self.width) ** 2, axis=1)
        near = np.argpartition(distance, NEIGHBOURS)[:NEIGHBOURS]
        if distance[near].min() < 1e-18:
            return float(numbers[near[np.argmin(distance[near])]])
        weight = 1 / distance[near]
        return float(weight @ numbers[near] / weight.sum())

    def loss(self, x):
        return self.carried(x, self.points, self.means)

    def sd(self, x):
        if self.again is None:
            return 0.01 * self.span + 0.03 * (self.loss(x) - float(self.means[self.best]))
        # A floor, since a few settings gave the same digits twice.
        return max(self.carried(x, self.points[self.again], self.sds[self.again]), 0.002 * self.span)


def measured(name):
    table = TABLES[name]
    m = Measured(table)
    return Problem(id=name, group=name, source=f"{table.cite}; table of olymp 0.0.1b0 (MIT)", knobs=table.knobs, loss=m.loss, sd=m.sd,
                   optimum=float(m.means[m.best]), best=list(m.settings[m.best]), cost=table.cost)


def problems():
    return {name: (name, lambda name=name: measured(name)) for name in TABLES}
