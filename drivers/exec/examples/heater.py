#!/usr/bin/env python3
"""A heater as an instrument of tuner, in plain Python.

Copy this file and tuner_exec.py, replace the inside of the class by your hardware,
and name it in the configuration:

    [[device]]
    name = "heater"
    driver = "exec"
    command = ["python3", "heater.py"]

The class simulates a plate that power heats and a fan cools, so that the file can
be tried as it is: tuner exec-test python3 heater.py
"""

import math
import time

from tuner_exec import Instrument, output, sensor, serve


class Heater(Instrument):
    """A simulated plate: it warms by 12 K/W in still air, within about 2 s."""

    channels = [
        output("power", "W", 0, 10, safe=0, release=True),
        output("fan", "1", 0, 1, safe=0),
        sensor("temp", "degC"),
    ]

    def __init__(self):
        self.power, self.fan = 0.0, 0.0
        self.temp, self.then = 20.0, time.monotonic()

    def _advance(self):
        now = time.monotonic()
        target = 20.0 + 12.0 * self.power / (1.0 + 2.0 * self.fan)
        self.temp += (target - self.temp) * -math.expm1(-(now - self.then) / 2.0)
        self.then = now

    def read(self, names):
        self._advance()
        return {"power": self.power, "fan": self.fan, "temp": self.temp}

    def write(self, values, release):
        self._advance()
        self.power = values.get("power", self.power)
        self.fan = values.get("fan", self.fan)
        if "power" in release:  # a released heater gets what the mains switch gives: nothing
            self.power = 0.0
        return {"power": self.power, "fan": self.fan}

    def safe(self):
        self._advance()
        self.power, self.fan = 0.0, 0.0


if __name__ == "__main__":
    serve(Heater(), "heater")
