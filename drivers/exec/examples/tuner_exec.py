"""tuner-exec/1 in one file: makes an instrument of tuner out of a Python class.

Copy this file beside your script. No packages are needed; Python 3.7 or newer.

    from tuner_exec import Instrument, output, sensor, serve

    class Heater(Instrument):
        channels = [output("power", "W", 0, 10, safe=0), sensor("temp", "degC")]

        def read(self, names):
            return {"temp": thermometer.read(), "power": supply.power}

        def write(self, values, release):
            supply.power = values["power"]
            return {"power": supply.power}

        def safe(self):
            supply.off()

    serve(Heater(), "heater")

tuner asks on standard input and reads answers from standard output, one JSON object
a line. So print nothing yourself: log() goes to tuner's log. `tuner exec-test python3
heater.py` checks the result.
"""

import json
import math
import os
import signal
import sys
import time
import traceback


class Refused(Exception):
    """The instrument's no: a word for programs, a sentence for people.

    retry=True says that the same request may succeed later. It costs tuner a step,
    not the connection. In read(), the code "no_value" ends the step at once: the
    measurement is over and has no value. Where one is still to come, leave it out.
    """

    def __init__(self, code, message, retry=False):
        super().__init__(message)
        self.code, self.message, self.retry = code, message, retry


class Instrument:
    """What serve() asks of an instrument."""

    #: A list of output(...) and sensor(...).
    channels = []

    #: Outputs can stay as they are when tuner has ended (shutdown = "hold" in its file).
    #: False: the end of tuner always means safe().
    holds = True

    def read(self, names):
        """Values of one instant, by name. Leave out a channel that has nothing new.

        Reading(values, taken=time.monotonic()) says when, where it was some time before.
        """
        raise NotImplementedError

    def write(self, values, release):
        """Set values and let go of the channels in release; return the readback."""
        raise Refused("read_only", "this instrument can only be read")

    def dose(self, name, amount, ident):
        """Give an amount through a pump, once; return the amount that was given.

        ident names the dose: no other ever has the same. Raise Refused only where it is
        certain that nothing was given; after any other exception nobody knows, and tuner
        counts the dose as given. Return None where the pump does not tell how much.
        """
        raise Refused("refused", "this instrument gives no doses")

    def safe(self):
        """Bring every output to its safe state: stop every pump, too. It may be called at any time."""

    def leave(self, hold):
        """The end of a run that is at rest, in place of safe(): the outputs in hold stay as they are.

        tuner has brought all others to where its file wants them. Close what is to be closed.
        """


class Reading(dict):
    """Values that were taken some time ago: Reading(values, taken=time.monotonic())."""

    def __init__(self, values, taken):
        super().__init__(values)
        self.taken = taken


def sensor(name, unit, low=None, high=None):
    """A channel that is only read. Its unit "1" means a plain number."""
    return _channel(name, unit, "r", low, high)


def output(name, unit, low=None, high=None, safe=None, release=False):
    """A channel that can be set. release=True: tuner may let go of it."""
    channel = _channel(name, unit, "rw", low, high)
    channel["release"] = release
    if safe is not None:
        channel["safe"] = safe
    return channel


def pump(name, unit, most, release=False):
    """A channel that adds an amount, once, up to most. release=True: tuner may stop it."""
    return {**output(name, unit, 0, most, release=release), "kind": "dose"}


def _channel(name, unit, access, low, high):
    channel = {"name": name, "unit": unit, "access": access}
    if low is not None:
        channel["min"] = low
    if high is not None:
        channel["max"] = high
    return channel


def log(text, level="I"):
    """One line to tuner's log; level is E, W, I or D."""
    for line in str(text).splitlines():
        print(f"{level}! {line}", file=sys.stderr, flush=True)


def serve(instrument, name):
    """Say hello, answer, and go safe when the input ends or a signal comes."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _leave)
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints goes to the log, not between the answers
    status, hold = 0, []
    try:
        _say(out, {"protocol": "tuner-exec/1", "name": name, "holds": instrument.holds, "channels": instrument.channels})
        for line in sys.stdin:
            request = json.loads(line)
            if request.get("op") in ("write", "safe"):
                hold = []  # what was promised is taken back
            answer = _answer(instrument, request)
            if request.get("op") == "bye" and answer["ok"]:
                hold = request.get("hold", [])
            _say(out, {"id": request["id"], **answer})
    except (_Signalled, BrokenPipeError):
        pass
    except (Exception, SystemExit):  # a handler that calls sys.exit() still goes safe
        log(traceback.format_exc(), "E")
        status = 1
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # going safe is not interrupted
    try:
        if hold:
            instrument.leave(hold)
            log("left as it is: " + ", ".join(hold))
        else:
            instrument.safe()
            log("safe")
    except Exception:
        log(traceback.format_exc(), "E")
        status = 1
    # Not sys.exit: flushing a pipe that tuner has left would fail once more.
    sys.stderr.flush()
    os._exit(status)


class _Signalled(BaseException):
    """A signal that asks to leave."""


def _leave(number, _frame):
    raise _Signalled(number)


def _say(out, message):
    # allow_nan=False: NaN is not JSON, and not a value.
    out.write(json.dumps(message, allow_nan=False) + "\n")
    out.flush()


def _answer(instrument, request):
    """The answer to one request, without its id."""
    try:
        return _do(instrument, request)
    except Refused as no:
        return _refusal(no.code, no.message, no.retry)
    except Exception as error:  # the instrument's trouble: tuner is told, and decides
        log(traceback.format_exc(), "E")
        return _refusal("fault", f"{type(error).__name__}: {error}", False)


def _refusal(code, message, retry):
    return {"ok": False, "error": {"code": code, "message": message, "retry": retry}}


def _do(instrument, request):
    op = request.get("op")
    if op == "read":
        names = request.get("channels", [])
        _check(instrument, names, writing=False)
        return _values("read", instrument.read(names), names)
    if op == "write":
        values, release = request.get("values", {}), request.get("release", [])
        _check(instrument, [*values, *release], writing=True)
        if "dose" in request:
            return _dose(instrument, values, request["dose"])
        if any(_known(instrument)[name].get("kind") == "dose" for name in values):
            raise Refused("refused", "a pump takes doses only")
        readback = instrument.write(values, release)
        return _values("write", {} if readback is None else readback, None)
    if op == "safe":
        instrument.safe()
        return {"ok": True}
    if op == "bye" and instrument.holds:
        _check(instrument, request.get("hold", []), writing=True)
        return {"ok": True}
    raise Refused("unknown_op", f"the operation {op!r} is not known here")


def _dose(instrument, values, ident):
    """One dose of one pump."""
    if len(values) != 1:
        raise Refused("bad_request", "a dose is of one channel")
    ((name, amount),) = values.items()
    if _known(instrument)[name].get("kind") != "dose":
        raise Refused("refused", f"channel {name!r} takes no doses")
    given = instrument.dose(name, amount, ident)
    return _values("dose", {} if given is None else {name: given}, None)


def _values(method, values, names):
    """An answer with values; those that nobody asked for are left out."""
    if not isinstance(values, dict):
        raise Refused("fault", f"{method}() returned {values!r}; return a dictionary of values by channel")
    chosen = {}
    for name, value in values.items():
        if names is not None and name not in names:
            continue
        try:
            chosen[name] = float(value)
        except (TypeError, ValueError):
            raise Refused("fault", f"{method}() gave {value!r} for channel {name!r}; "
                                   "a value is a number, and a channel without one is left out") from None
        if not math.isfinite(chosen[name]):
            raise Refused("fault", f"channel {name!r} gave {chosen[name]}")
    reply = {"ok": True, "values": chosen}
    if isinstance(values, Reading):
        reply["age_ms"] = max(0.0, 1000 * (time.monotonic() - values.taken))
    return reply


def _known(instrument):
    return {channel["name"]: channel for channel in instrument.channels}


def _check(instrument, names, writing):
    """Refuse names that there are not, and writes to what is only read."""
    known = _known(instrument)
    for name in names:
        if name not in known:
            raise Refused("unknown_channel", f"there is no channel {name!r}")
        if writing and known[name]["access"] != "rw":
            raise Refused("read_only", f"channel {name!r} can only be read")
