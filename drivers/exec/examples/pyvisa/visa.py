"""Makes an instrument of tuner out of whatever PyVISA reaches: VXI-11, HiSLIP, GPIB, USBTMC, serial.

    python3 visa.py --resource TCPIP::192.168.1.20::INSTR \
        --output "voltage | V | VOLT {:.4f} | VOLT? | min=0 max=6 safe=0" \
        --sensor "power | W | MEAS:POW?"

An output is NAME | UNIT | what sets it | what reads it back | min, max and safe. A sensor is NAME | UNIT |
what measures it. After each write the error queue is read (--errors "SYST:ERR?", the default; "" for none): what
the instrument refuses, tuner is told. Needs: pip install pyvisa pyvisa-py.
"""

import argparse
import math
import re
import sys
from pathlib import Path

import pyvisa

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]  # tuner_exec.py is here or above
from tuner_exec import Instrument, Refused, log, output, sensor, serve  # noqa: E402


def fields(text, count):
    """The parts of one --output or --sensor."""
    parts = [part.strip() for part in text.split("|")]
    if len(parts) not in (count, count + 1) or not parts[0]:
        raise argparse.ArgumentTypeError(f"{text!r} must have {count} parts, divided by |")
    return parts[:count], dict(re.findall(r"(\w+)=(\S+)", parts[count])) if len(parts) > count else {}


class Visa(Instrument):
    def __init__(self, options):
        manager = pyvisa.ResourceManager(options.backend)
        self.line = manager.open_resource(options.resource, read_termination=options.read_end, write_termination=options.write_end)
        self.line.timeout = options.timeout
        self.errors = options.errors
        self.sets, self.asks, self.rest, self.channels = {}, {}, {}, []
        for (name, unit, write, ask), keys in options.output:
            low, high, safe = (float(keys[k]) if k in keys else None for k in ("min", "max", "safe"))
            self.sets[name], self.asks[name] = write, ask
            if safe is not None:
                self.rest[name] = safe
            self.channels.append(output(name, unit, low, high, safe))
        for (name, unit, ask), _ in options.sensor:
            self.asks[name] = ask
            self.channels.append(sensor(name, unit))
        log(f"{options.resource}: {self.line.query(options.identify).strip()}" if options.identify else options.resource)

    def read(self, names):
        values = {name: self.number(name) for name in names}
        return {name: value for name, value in values.items() if value is not None}

    def number(self, name):
        """One value, or None where the instrument says that it has none."""
        answer = self.line.query(self.asks[name])
        found = re.search(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", answer)
        if not found:
            raise Refused("fault", f"{self.asks[name]!r} was answered {answer.strip()!r}, which is no number")
        value = float(found.group())
        # 9.91E37 and 9.9E37 are SCPI's "not a number" and infinity (SCPI 1999, volume 1, 7.2.1.4 and 5).
        return value if math.isfinite(value) and abs(value) < 9.9e37 else None

    def write(self, values, release):
        for name, value in values.items():
            self.line.write(self.sets[name].format(value))
            if self.errors:
                said = self.line.query(self.errors).strip()
                if not re.match(r"\+?0\b", said):
                    raise Refused("refused", f"{name} = {value}: {said}")
        return {name: value for name in values if (value := self.number(name)) is not None}

    def safe(self):
        self.write(self.rest, [])


def main():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--resource", required=True, help="VISA resource, such as TCPIP::HOST::INSTR or GPIB0::7::INSTR")
    ask.add_argument("--backend", default="@py", help="@py, @ivi, or FILE@sim for a simulated one")
    ask.add_argument("--output", action="append", default=[], type=lambda text: fields(text, 4), metavar="NAME|UNIT|SET|ASK|KEYS")
    ask.add_argument("--sensor", action="append", default=[], type=lambda text: fields(text, 3), metavar="NAME|UNIT|ASK")
    ask.add_argument("--identify", default="*IDN?")
    ask.add_argument("--errors", default="SYST:ERR?")
    ask.add_argument("--timeout", type=float, default=1000, help="ms for one answer")
    ask.add_argument("--read-end", default="\n", type=ending)
    ask.add_argument("--write-end", default="\n", type=ending)
    serve(Visa(ask.parse_args()), "visa")


def ending(text):
    return text.encode().decode("unicode_escape")


if __name__ == "__main__":
    main()
