"""Makes an instrument of tuner out of EPICS process variables or Tango attributes, over ophyd-async.

    python3 signals.py --output "current | LASER:CURRENT_SP | LASER:CURRENT_RBV | safe=0" \
        --sensor "energy | LASER:ENERGY"

An output is NAME | what is set | what is read back (the same: leave it empty) | safe, min and max. A sensor is NAME | what is
read. Names are those of ophyd-async: ca://PV (the default), pva://PV, tango://HOST:PORT/DEVICE/ATTRIBUTE (with
#dbase=no behind it where there is no database). Units
and limits come from the server: an EPICS record's control limits (DRVL and DRVH) are the output's min and max,
which min and max of the command may only narrow. A put waits for its completion. A value whose alarm severity is INVALID is no data.

    python3 signals.py --device mymodule:make_device --output "current | source.current" --sensor "energy | meter.energy"

hands over an ophyd-async device as it is: names are those of its signals. Needs: pip install 'ophyd-async[ca,pva]'.
"""

import argparse
import asyncio
import importlib
import math
import re
import sys
import threading
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent), "."]  # tuner_exec.py is here or above
from tuner_exec import Instrument, Refused, log, output, sensor, serve  # noqa: E402


def fields(text, count):
    """The parts of one --output or --sensor."""
    parts = [part.strip() for part in text.split("|")] + [""] * count
    if not parts[0] or not parts[1]:
        raise argparse.ArgumentTypeError(f"{text!r} must have a name and a signal, divided by |")
    return parts[: count - 1], dict(re.findall(r"(\w+)=(\S+)", parts[count - 1]))


def named(read, write=None):
    """The signal of a process variable or an attribute."""
    if read.startswith("tango://"):
        from ophyd_async.tango.core import tango_signal_r, tango_signal_rw

        return tango_signal_rw(float, read, write) if write else tango_signal_r(float, read)
    from ophyd_async.epics.core import epics_signal_r, epics_signal_rw

    return epics_signal_rw(float, read, write) if write else epics_signal_r(float, read)


class Signals(Instrument):
    def __init__(self, options):
        self.patience, self.loop = options.timeout, asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.reads, self.sets, self.rest, self.channels = {}, {}, {}, []
        # However long it takes: tuner's start_timeout bounds it.
        asyncio.run_coroutine_threadsafe(self.start(options), self.loop).result()

    def wait(self, job):
        """What a coroutine of ophyd-async gives, within the time for one answer."""
        try:
            return asyncio.run_coroutine_threadsafe(asyncio.wait_for(job, self.patience), self.loop).result()
        except TimeoutError:
            raise Refused("timeout", f"no answer within {self.patience} s", retry=True) from None

    async def start(self, options):
        handed = None
        if options.device:
            module, _, name = options.device.partition(":")
            handed = getattr(importlib.import_module(module), name)()
            await handed.connect()

        async def signal(read, write=None):
            if handed is None:
                made = named(read, write)
                await made.connect(timeout=self.patience)
                return made
            found = handed
            for part in (write or read).split("."):
                found = getattr(found, part)
            return found

        for (name, write, read), keys in options.output:
            read = read or write
            self.reads[name] = self.sets[name] = await signal(read, write)
            if handed is not None and read != write:
                self.reads[name] = await signal(read)
            about = await self.about(self.sets[name])
            if handed is None and read != write:  # limits are those of what is set
                about = {**about, **await self.about(await signal(write))}
            low, high = narrowed(name, about, keys)
            safe = float(keys["safe"]) if "safe" in keys else None
            if safe is not None:
                self.rest[name] = safe
            self.channels.append(output(name, about["unit"], low, high, safe))
        for (name, read), _ in options.sensor:
            self.reads[name] = await signal(read)
            self.channels.append(sensor(name, (await self.about(self.reads[name]))["unit"]))

    async def about(self, signal):
        """Unit and control limits, as the server says."""
        (said,) = (await signal.describe()).values()
        limits = (said.get("limits") or {}).get("control") or {}
        unit = said.get("units") or "1"
        return {"unit": {"°C": "degC", "n.u.": "1"}.get(unit, unit), "low": limits.get("low"), "high": limits.get("high")}

    def read(self, names):
        return self.wait(self.gather(names))

    async def gather(self, names):
        readings = await asyncio.gather(*(self.reads[name].read() for name in names))
        values = {}
        for name, reading in zip(names, readings):
            (said,) = reading.values()
            # EPICS: 3, which ophyd-async gives as -1.
            if said.get("alarm_severity", 0) in (-1, 3) or not math.isfinite(said["value"]):
                log(f"{name}: no data, its alarm severity is INVALID", "W")
                continue
            values[name] = float(said["value"])
        return values

    def write(self, values, release):
        self.wait(self.put(values))
        return self.read(list(values))

    async def put(self, values):
        async def one(name, value):
            await self.sets[name].set(value)

        await asyncio.gather(*(one(name, value) for name, value in values.items()))

    def safe(self):
        self.wait(self.put(self.rest))


def narrowed(name, about, keys):
    """The narrower of the server's limits and the command's."""
    low, high = (about[k] if about[k] is not None and math.isfinite(about[k]) else None for k in ("low", "high"))
    if low is not None and high is not None and low >= high:
        low = high = None  # EPICS: both 0 are no limits
    if "min" in keys:
        low = float(keys["min"]) if low is None else max(low, float(keys["min"]))
    if "max" in keys:
        high = float(keys["max"]) if high is None else min(high, float(keys["max"]))
    log(f"{name}: {about['unit']}, {low} to {high}")
    return low, high


def main():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--output", action="append", default=[], type=lambda text: fields(text, 4), metavar="NAME|SET|READBACK|KEYS")
    ask.add_argument("--sensor", action="append", default=[], type=lambda text: fields(text, 3), metavar="NAME|READ")
    ask.add_argument("--device", help="MODULE:FUNCTION that makes an ophyd-async device; signals are then named by their attributes")
    ask.add_argument("--timeout", type=float, default=5, help="s for one answer")
    serve(Signals(ask.parse_args()), "signals")


if __name__ == "__main__":
    main()
