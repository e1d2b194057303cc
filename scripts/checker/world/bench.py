"""The instrument itself, whatever it is reached by: knobs, an optimum, an interlock, doses.

Every value of the objective is unlike every other one, so that a number in the journal can be
traced to the one moment at which it was served."""

import asyncio
import random
import time


class Knobs(dict):
    """Where the knobs stand, and stood a while ago."""

    def __init__(self, values):
        super().__init__(values)
        self.past = {ch: [] for ch in values}   # (until when, value), the oldest first

    def __setitem__(self, ch, value):
        now = time.monotonic()
        if value != self[ch]:
            self.past[ch] = [one for one in self.past[ch] if one[0] > now - 10.0] + [(now, self[ch])]
        super().__setitem__(ch, value)

    def ago(self, seconds):
        """All of them as they stood then."""
        then = time.monotonic() - seconds
        return {ch: next((x for until, x in self.past[ch] if until > then), value) for ch, value in self.items()}


class Bench:
    def __init__(self, plan, trace):
        self.plan, self.trace = plan, trace
        self.random = random.Random(plan.seed * 7919 + 1)
        self.knobs = Knobs({v["ch"]: v["begin"] for v in plan.variables if not v["dose"]})
        self.released = set()
        self.void = {}          # channel -> setpoints up to this number act no more
        self.writes = {}        # channel -> how many setpoints it has had
        self.doses = {}
        self.ec, self.door, self.aux = 1.0, 1.0, 20.0
        self.spoil, self.spoil_ch = None, "power"  # function of a value: what is said in its place
        self.silent = set()     # channels that say nothing
        self.stuck = set()      # knobs that do not follow
        self.expire = {}        # channel -> (when its setpoint ends by itself)
        self.last = 0.0

    def by_channel(self, ch):
        return next((v for v in self.plan.variables if v["ch"] == ch), None)

    def inward(self, ch, said):
        """A number of the device's own units in the units of the file."""
        scale, offset = self.plan.counts(ch)
        return scale * said + offset

    def outward(self, ch, value):
        scale, offset = self.plan.counts(ch)
        return value if isinstance(value, str) else (value - offset) / scale

    def read(self, ch, ago=0.0):
        """The channel's value now, or the knobs' and what follows from them of a while ago; None where it says nothing."""
        if ch in self.silent:
            return None
        self.lapse()
        if ch == "power":
            value = self.objective(self.knobs.ago(ago))
        elif ch in ("door", "ec", "aux"):
            value = getattr(self, ch)
            if ch == "aux":
                value = round(value + self.random.gauss(0, 0.05), 6)
        else:
            if ch in self.released:
                self.knobs[ch] = self.wander(ch)
            value = self.knobs.ago(ago)[ch]
        if self.spoil and ch == self.spoil_ch:
            return self.spoil(value)
        return value

    def wander(self, ch):
        low, high = self.by_channel(ch)["range"]
        return round(low + (high - low) * self.random.random(), 6)

    def objective(self, knobs):
        value = 10.0
        for v in self.plan.variables:
            low, high = v["range"]
            x = self.doses_sum(v["ch"]) if v["dose"] else knobs[v["ch"]]
            value -= 4.0 * ((x - v["best"]) / (high - low)) ** 2
        while True:
            noisy = round(value + self.random.gauss(0, 0.1), 9)
            if noisy != self.last:
                self.last = noisy
                return noisy

    def doses_sum(self, ch):
        given = [d["amount"] for d in self.doses.values() if d["ch"] == ch]
        return given[-1] if given else 0.0

    def lapse(self):
        now = time.monotonic()
        for ch, when in list(self.expire.items()):
            if now > when:
                del self.expire[ch]
                if ch not in self.stuck:
                    self.knobs[ch] = self.by_channel(ch)["safe"]
                    self.trace.add("lapsed", ch=ch)

    def write(self, ch, value, for_ms=None):
        """A setpoint reaches the device."""
        self.released.discard(ch)
        self.writes[ch] = self.writes.get(ch, 0) + 1
        if for_ms:
            self.expire[ch] = time.monotonic() + for_ms / 1e3
        self.trace.add("took", ch=ch, value=value)
        lag = self.by_channel(ch)["lag"]
        if ch in self.stuck:
            return
        if lag:
            asyncio.get_running_loop().call_later(lag, self.arrive, ch, value, self.writes[ch])
        else:
            self.arrive(ch, value, self.writes[ch])

    def arrive(self, ch, value, number):
        """The knob is there, unless it was told something else or let go meanwhile: it follows each setpoint after its lag."""
        if number <= self.void.get(ch, 0) or ch in self.released:
            return
        if value == self.knobs[ch]:  # an earlier write of the same value has brought it there: nothing changes
            return
        self.trace.add("arrived", ch=ch, value=value, came_from=self.knobs[ch])
        self.knobs[ch] = value

    def hold(self, ch):
        """What is on its way to a knob does not arrive any more."""
        self.void[ch] = self.writes.get(ch, 0)
        self.released.discard(ch)

    def release(self, ch):
        self.expire.pop(ch, None)
        variable = self.by_channel(ch)
        if variable and not variable["dose"]:
            self.released.add(ch)
        self.trace.add("let-go", ch=ch)

    def safe(self):
        """The device goes safe by itself."""
        self.void = dict(self.writes)
        for v in self.plan.variables:
            if not v["dose"] and v["ch"] not in self.stuck:
                self.released.discard(v["ch"])
                self.knobs[v["ch"]] = v["safe"]
        self.expire.clear()
        self.trace.add("self-safe")

    def dose(self, ch, amount, name):
        """A dose is given, once a name; what comes without a name is given each time."""
        name = name or f"line-{len(self.doses) + 1}"
        if name in self.doses:
            self.trace.add("dose-again", ch=ch, name=name, amount=amount)
            return self.doses[name]["amount"]
        self.doses[name] = {"ch": ch, "amount": amount}
        self.ec = round(min(60.0, self.ec + 0.1 * amount), 6)
        self.trace.add("dosed", ch=ch, name=name, amount=amount)
        return amount

    def word_lost(self):
        """Whether nobody hears of the dose that has just been given."""
        return self.random.random() < self.plan.dose_words_lost
