#!/usr/bin/env python3
"""An experiment that exchanges two text files, as an instrument of tuner.

For a lab whose experiment is run by LabVIEW, MATLAB or anything else that can read and
write a file. The exchange is M-LOOP's: tuner writes exp_input.txt; the experiment reads
and DELETES it, runs, and writes exp_output.txt.

    exp_input.txt     params = array([1.5, -20.0])
    exp_output.txt    cost = 0.5
                      uncer = 0.01
                      bad = false

"uncer", the standard deviation of the cost, and "bad" may be left out, and "cost" where
bad is true. Copy this file and tuner_exec.py, and name the parameters in the order in
which the input file has them, each as NAME:UNIT:START:

    [[device]]
    name = "experiment"
    driver = "exec"
    command = ["python3", "files.py", "current:A:0.2", "detuning:MHz:-5"]

files.toml is a whole file that tunes it.
"""

import argparse
import fcntl
import math
import os
import re
import sys
import time

from tuner_exec import Instrument, Refused, log, output, sensor, serve

MOST = 1 << 16  # bytes of an output file: an answer has three short lines


class Exchange(Instrument):
    """A write keeps the parameters; the first read of the cost after it begins a run."""

    holds = False  # an input that was not taken is withdrawn at the end

    def __init__(self, options):
        self.names = [name for name, _, _ in options.parameter]
        self.channels = [output(name, unit) for name, unit, _ in options.parameter]
        self.channels += [sensor("cost", options.cost_unit), sensor("uncer", options.cost_unit, 0)]
        self.params = {name: start for name, _, start in options.parameter}
        self.input = os.path.join(options.folder, options.input)
        self.output = os.path.join(options.folder, options.output)
        # A second name of the input: what is left of it when the experiment deletes the
        # first one, and its ctime says when that was.
        self.sent = self.input + ".sent"
        self.quiet, self.patience = options.quiet, options.patience
        self.written = False  # there was a write
        self.running = None  # the parameters of the run that goes on
        self.seen = None  # the output's state at the last look, and since when it is so
        self.folder = os.open(options.folder, os.O_RDONLY)
        try:
            fcntl.flock(self.folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f"E! another program exchanges files in {options.folder!r}; end it, or use another --folder")
        except OSError:
            log("the folder's file system has no locks: nothing keeps a second program out of it", "W")

    def read(self, names):
        values = dict(self.params)
        if "cost" in names or "uncer" in names:
            values.update(self.run())
        return values

    def write(self, values, release):
        if release:
            raise Refused("refused", "every run needs all parameters: none can be released")
        if not self.written:  # not before: tuner may only be looking
            for name in (self.input, self.output):
                self.aside(name, "an earlier run left it")
        self.params.update(values)
        self.written = True
        return values

    def run(self):
        """Begin a run, or give the result of the one that goes on, if it is there."""
        if self.running is None:
            if self.written:
                self.offer()
            return {}
        text = self.answer()
        if text is None:
            return {}
        stale, self.running = self.running != self.params, None
        if stale:  # the cost of other parameters than the latest is never scored
            log("a run with other parameters than the latest has ended; its cost is dropped", "W")
            return {}
        return result(text)

    def offer(self):
        """Write the input file; the experiment sees it whole or not at all."""
        forget(self.sent)
        with open(self.input + ".new", "w", encoding="ascii") as file:
            values = ", ".join(repr(float(self.params[name])) for name in self.names)
            file.write(f"params = array([{values}])\n")
        try:
            os.link(self.input + ".new", self.sent)
        except OSError:
            pass  # a file system without second names: only an input that still waits tells
        os.rename(self.input + ".new", self.input)
        self.running, self.begun, self.warned = dict(self.params), time.monotonic(), False

    def answer(self):
        """The text of the output file, which is deleted; None while there is none."""
        waits = os.path.exists(self.input)
        if waits and not self.warned and time.monotonic() - self.begun > 10:
            log(f"the experiment has not taken {self.input} for 10 s; does it run, and look there?", "W")
            self.warned = True
        try:
            now = os.stat(self.output)
        except FileNotFoundError:
            return None
        state = (now.st_ino, now.st_size, now.st_mtime_ns)
        if self.seen is None or self.seen[0] != state:
            self.seen = (state, time.monotonic())
        # "0.5" may be the beginning of "0.53".
        if now.st_size == 0 or time.monotonic() - self.seen[1] < self.quiet:
            return None
        self.seen = None
        taken = os.stat(self.sent).st_ctime_ns if os.path.exists(self.sent) else 0
        if waits or now.st_ctime_ns < taken:
            self.aside(self.output, "it was written before the experiment had taken its input: it answers an earlier run")
            return None
        with open(self.output, encoding="utf-8-sig", errors="replace") as file:
            text = file.read(MOST + 1)
        os.remove(self.output)
        forget(self.sent)
        return text

    def aside(self, name, why):
        if os.path.exists(name):
            os.replace(name, name + ".old")
            log(f"{name} was moved to {name}.old: {why}", "W")

    def safe(self):
        """No further run begins: an input is withdrawn, a run that goes on is waited for."""
        self.written = False
        if self.running is not None and forget(self.input):
            self.running = None
            forget(self.sent)
        end = time.monotonic() + self.patience
        while self.running is not None:
            if self.answer() is not None:
                self.running = None
            elif time.monotonic() > end:
                raise Refused("busy", "a run of the experiment goes on", retry=True)
            else:
                time.sleep(0.02)


def forget(name):
    """Delete a file; False where there is none."""
    try:
        os.remove(name)
    except FileNotFoundError:
        return False
    return True


def result(text):
    """The values of an output file. What is wrong is refused, with its line."""

    def bad(why):
        # "no_value" ends the step at once: none comes of waiting.
        raise Refused("no_value", why)

    found = {}
    if len(text) > MOST:
        bad(f"the output is longer than {MOST} bytes, and an answer has three short lines")
    for number, line in enumerate(text.split("\n"), 1):
        line = line.split("#")[0].strip()
        key, equals, value = (part.strip() for part in line.partition("="))
        if line and not equals:
            bad(f"output line {number}: {line[:80]!r} is not KEY = VALUE")
        if line and key in found:
            bad(f"output line {number}: {key[:80]!r} is given twice")
        if key in ("cost", "uncer"):
            # float() would take nan, inf and 1_0 too.
            if not re.fullmatch(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", value) or math.isinf(float(value)):
                bad(f"output line {number}: {key} = {value[:80]!r} is not a finite decimal number, such as -1.5e-3")
            value = float(value)
        if key == "uncer" and value < 0:
            bad(f"output line {number}: uncer = {value} is below 0, and it is a standard deviation")
        if key == "bad" and value.lower() not in ("true", "false", "0", "1"):
            bad(f"output line {number}: bad = {value[:80]!r} is neither true nor false")
        found[key] = value
    if found.get("bad", "false").lower() in ("true", "1"):
        bad("the experiment says bad = true")
    if "cost" not in found:
        bad('the output has neither a "cost" nor "bad = true"')
    return {key: found[key] for key in ("cost", "uncer") if key in found}


def parameter(text):
    """NAME:UNIT:START"""
    name, unit, start = text.split(":")
    if not name or not unit or name in ("cost", "uncer") or not math.isfinite(float(start)):
        raise ValueError
    return name, unit, float(start)


parameter.__name__ = "NAME:UNIT:START"

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="An experiment that exchanges two text files, as an instrument of tuner.")
    parser.add_argument("parameter", nargs="+", type=parameter, metavar="NAME:UNIT:START",
                        help="a parameter, its unit (1: a plain number) and its value before the first run, in the input file's order")
    parser.add_argument("--folder", default=".", help="folder of both files (default: where tuner starts this program)")
    parser.add_argument("--input", default="exp_input.txt", help="the file that the experiment reads and deletes")
    parser.add_argument("--output", default="exp_output.txt", help="the file that the experiment writes")
    parser.add_argument("--cost-unit", default="1", help="unit of the cost")
    parser.add_argument("--quiet", type=float, default=0.1, help="seconds without a change after which the output counts as whole")
    parser.add_argument("--patience", type=float, default=1.5,
                        help="seconds that going safe waits for a run to end; less than the device's reply_timeout")
    serve(Exchange(parser.parse_args()), "files")
