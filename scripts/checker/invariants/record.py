"""A run as the invariants see it: the trace cut into sessions, the journals, and what was withheld."""

import bisect
import json


class Verdict:
    """What one invariant says of one run: how often it was judged, and what was wrong."""

    def __init__(self):
        self.judged, self.findings = 0, []

    def hold(self, true, text, t=None):
        self.judged += 1
        if not true:
            self.findings.append((t, text))


class Session:
    def __init__(self, number, start):
        self.n, self.start, self.end, self.events, self.code, self.exit = number, start, None, [], None, None


class Record:
    def __init__(self, plan, trace, journals):
        self.plan, self.events, self.journals = plan, trace.events, journals
        self.sessions, now = [], None
        for e in self.events:
            if e["k"] == "start":
                now = Session(e["session"], e["t"])
                self.sessions.append(now)
            if now is not None:
                now.events.append(e)
            if e["k"] == "exit":
                now.end, now.code, now.exit = e.get("ended", e["t"]), e["code"], e
            if now is not None and now.end is not None and e["k"] == "journal":
                now = None      # what follows belongs to no session
        self.times = [e["t"] for e in self.events]
        self.stalls = [(e["since"], e["t"], e["lost"]) for e in self.events if e["k"] == "stall"]
        self.stall_starts = [s[0] for s in self.stalls]
        self.pauses = self._pauses()
        self.faults = self._windows("fault", "fault-end")
        self.knobs = [v for v in plan.variables if not v["dose"]]
        self.final = next((j for j in reversed(journals) if j and "error" not in j), None)
        self.gone = any(e["k"] == "journal-gone" for e in self.events)
        self.t0 = self.events[0]["t"] if self.events else 0.0

    def of(self, *kinds, since=None, until=None, **match):
        first = 0 if since is None else bisect.bisect_left(self.times, since)
        last = len(self.times) if until is None else bisect.bisect_right(self.times, until)
        for e in self.events[first:last]:
            if e["k"] in kinds:
                if all(e.get(k) == v for k, v in match.items()):
                    yield e

    def _windows(self, begin, end):
        windows, open_ = [], None
        for e in self.events:
            if e["k"] == begin:
                open_ = e
            elif e["k"] == end and open_:
                windows.append((open_["t"], e["t"], open_["name"]))
                open_ = None
        if open_:
            windows.append((open_["t"], self.events[-1]["t"], open_["name"]))
        return windows

    def _pauses(self):
        """Times between SIGSTOP and SIGCONT."""
        pauses, since = [], None
        for e in self.events:
            if e["k"] == "signal" and e["signal"] == "SIGSTOP":
                since = since or e["t"]
            elif since and (e["k"] == "signal" and e["signal"] in ("SIGCONT", "SIGKILL") or e["k"] == "exit"):
                pauses.append((since, e["t"]))
                since = None
        return pauses

    def lost(self, since, until):
        """Seconds within a window that the machine withheld, or in which the program was stopped."""
        total = 0.0
        at = max(0, bisect.bisect_left(self.stall_starts, since - 2.0))
        for begin, end, lost in self.stalls[at:]:
            if begin > until:
                break
            if end > since:
                total += lost
        for begin, end in self.pauses:
            total += max(0.0, min(end, until) - max(begin, since))
        return total

    def fault_between(self, since, until, but=()):
        return [name for begin, end, name in self.faults if end >= since and begin <= until and name not in but]

    def quiet(self, since, until, but=()):
        """No fault within the window, nor just before it."""
        return not self.fault_between(since - 0.5, until, but)

    def may_jump(self, session, t):
        """Whether a safe value may come at once: something has tripped or halted the run, someone has stopped it, or its end had to hurry."""
        for e in session.events:
            if e["t"] > t + 1.5 + self.lost(t, t + 1.5):
                break
            if e["k"] == "err" and any(w in e["line"] for w in ("tripped", "halted", "stopped", "latched", "watchdog")):
                return True
            if e["k"] == "command" and e["command"] == "stop":
                return True
            if e["k"] in ("signal", "closing") and e["t"] < t - 9.0:
                return True
            if e["k"] == "link" and not e["up"] and t - 4 < e["t"] <= t:
                return True     # what comes back is brought to safety by its driver
        return False

    def begun(self, session, t):
        """Whether anything has happened in a session by t that may bring an actuator to its safe value, or the program says a
        moment later that it has: the value leaves first."""
        soon = t + 0.3 + self.lost(t - 0.1, t + 0.3)
        for e in session.events:
            if e["t"] > soon:
                return False
            if e["k"] == "err" and any(w in e["line"] for w in ("fallen back", "tripped", "halted", "stopped")):
                return True
            if e["k"] == "state" and e["state"] == "ending" or e["k"] == "err" and "is not compared with" in e["line"] \
                    or e["k"] == "out" and (e.get("doc") or {}).get("n") == self.plan.steps:
                return True     # a run that ends by itself
            if e["t"] > t:
                continue
            if e["k"] in ("fault", "signal", "order", "closing", "command", "door"):
                return True
            if e["k"] == "out" and (e.get("doc") or {}).get("type") == "result":
                return True
        return False

    def rested(self, session):
        """When the program put on record that every actuator is at rest, on the trace's clock: from then on it only closes its
        connections and its journal, and a lease may run out."""
        plan = next((e for e in self.events if e["k"] == "plan"), {})
        if not self.final or "wall" not in plan:
            return []
        times = [plan["t"] + e["wall_ns"] / 1e9 - plan["wall"] for e in self.final["event"]
                 if e["kind"] == "shutdown" and e["level"] == "info" and e["wall_ns"]]
        return [t for t in times if session.start <= t <= (session.end or t)]

    def patience(self, ask):
        """How long the program waits for the answer to a request."""
        return self.plan.dose_timeout if isinstance(ask["line"], dict) and "dose" in ask["line"] else self.plan.reply_timeout

    def idle(self, session, since, until):
        """Whether the program has said within a window that it has tripped, was stopped or is disarmed: then a knob that is to stay
        where it is is not written, and its lease runs out (the state table of docs/safety.md)."""
        for e in session.events:
            if (e["k"] == "closing" or e["k"] == "signal" and e["signal"] in ("SIGTERM", "SIGINT")) and e["t"] < until - 9.0:
                return True     # its end had to hurry, which is a trip
            if since < e["t"] < until and (e["k"] in ("state", "answer") and e.get("state") in ("tripped", "stopped", "disarmed")
                                           or e["k"] == "err" and ("tripped:" in e["line"] or "stopped" in e["line"])):
                return True
        return False

    def driver_busy(self):
        """Whether a silent sensor keeps the actuators' own line busy."""
        return self.plan.driver["act"] == self.plan.driver["sense"] == "serial"

    def faulty_step(self, step):
        """Whether anything went wrong while a step or the one before it was made."""
        told = {e["doc"]["n"]: e["t"] for e in self.events if e["k"] == "out" and (e.get("doc") or {}).get("type") == "step"}
        return step not in told or step - 1 not in told or not self.quiet(told.get(step - 2, told[step - 1] - 3), told[step])

    def session_at(self, t):
        return next((s for s in self.sessions if s.start <= t and (s.end is None or t <= s.end + 0.5)), None)

    def when(self, t):
        return f"{t - self.t0:.3f} s"


def answers(message, dose):
    """Whether an MQTT message is the word on a dose, or on a setpoint: that it was taken, or refused."""
    try:
        said = json.loads(message["payload"])
    except ValueError:
        return False
    return said.get("session") == dose["session"] and said.get("seq") == dose["seq"] and not said.get("released")
