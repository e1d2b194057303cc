#!/usr/bin/env python3
"""A peristaltic pump that adds nutrient to a tank, and a probe in it, for tuner.

It is simulated: replace what is between the dashes by your pump's and your probe's own
commands. Try it with

    tuner exec-test python3 feeder.py
"""

from tuner_exec import Instrument, Refused, pump, sensor, serve


class Feeder(Instrument):
    channels = [pump("feed", "mL", 20), sensor("ec", "mS/cm")]

    def __init__(self):
        self.given = {}  # by name: a dose that is told twice is given once
        # ---
        self.conductivity = 0.4
        # ---

    def read(self, names):
        return {"ec": self.conductivity}

    def dose(self, name, amount, ident):
        if amount > 20:
            raise Refused("refused", "the pump gives 20 mL at most")
        if ident not in self.given:
            # ---
            self.conductivity += 0.2 * amount
            # ---
            self.given[ident] = amount
        return self.given[ident]


serve(Feeder(), "feeder")
