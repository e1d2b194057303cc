#!/usr/bin/env python3
"""A heater as an instrument of tuner, in plain Python.

Copy this file, replace the class Heater by your hardware, and name it in the
configuration:

    [[device]]
    name = "heater"
    driver = "exec"
    command = ["python3", "heater.py"]

The class simulates a plate that power heats and a fan cools, so that the file can
be tried as it is. Everything below it is the protocol, tuner-exec/1: one JSON
object a line, tuner asks on standard input, the answer goes to standard output.
Other text goes to standard error, where it becomes tuner's log; "E! ", "W! ",
"I! " or "D! " in front gives its level.
"""

import json
import math
import sys
import time


class Refused(Exception):
    """The instrument's no: a word for programs, a sentence for people."""

    def __init__(self, code, message, retry=False):
        super().__init__(message)
        self.code, self.message, self.retry = code, message, retry


class Heater:
    """A simulated plate: it warms by 12 K/W in still air, within about 2 s."""

    channels = [
        {"name": "power", "unit": "W", "access": "rw", "min": 0, "max": 10, "safe": 0},
        {"name": "fan", "unit": "1", "access": "rw", "min": 0, "max": 1, "safe": 0, "release": False},
        {"name": "temp", "unit": "degC", "access": "r"},
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
        """Values of one instant. Leave out a channel that has nothing new."""
        self._advance()
        return {name: getattr(self, name) for name in names}

    def write(self, values, release):
        """Set and release; the return value is the readback."""
        self._advance()
        for name, value in values.items():
            setattr(self, name, float(value))
        if "power" in release:  # a released heater gets what the mains switch gives: nothing
            self.power = 0.0
        return {"power": self.power, "fan": self.fan}

    def safe(self):
        """Bring every output to its safe state; may be called at any time."""
        self._advance()
        self.power, self.fan = 0.0, 0.0


def say(message):
    """One line to tuner. allow_nan=False: NaN is not JSON, and not a value."""
    print(json.dumps(message, allow_nan=False), flush=True)


def check(device, names, writing):
    """Refuse names that there are not, and writes to what is only read."""
    known = {c["name"]: c for c in device.channels}
    for name in names:
        if name not in known:
            raise Refused("unknown_channel", f"there is no channel {name!r}")
        if writing and known[name]["access"] != "rw":
            raise Refused("read_only", f"channel {name!r} can only be read")


def answer(device, request):
    """The answer to one request, without its id."""
    op = request.get("op")
    if op == "read":
        names = request.get("channels", [])
        check(device, names, writing=False)
        return {"ok": True, "values": device.read(names)}
    if op == "write":
        values, release = request.get("values", {}), request.get("release", [])
        check(device, [*values, *release], writing=True)
        return {"ok": True, "values": device.write(values, release)}
    if op == "safe":
        device.safe()
        return {"ok": True}
    raise Refused("unknown_op", f"the operation {op!r} is not known here")


def serve(device, name):
    """Say hello, answer, and go safe at the end of the input, whatever happens."""
    say({"protocol": "tuner-exec/1", "name": name, "channels": device.channels})
    try:
        for line in sys.stdin:
            request = json.loads(line)
            try:
                reply = answer(device, request)
            except Refused as no:
                reply = {"ok": False, "error": {"code": no.code, "message": no.message, "retry": no.retry}}
            say({"id": request["id"], **reply})
    finally:
        device.safe()
        print("I! safe", file=sys.stderr, flush=True)


if __name__ == "__main__":
    serve(Heater(), "heater")
