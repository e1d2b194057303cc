"""What may be said to an actuator: bounds, the device's step, slew, dwell, leases."""

import math

from .record import Verdict, answers


def bounds(rec):
    """Every setpoint is finite and inside the hard limits; every dose inside its range and its step; every decision inside its range."""
    v = Verdict()
    for e in rec.of("set"):
        k = next(k for k in rec.knobs if k["ch"] == e["ch"])
        x = e["value"]
        v.hold(isinstance(x, (int, float)) and math.isfinite(x) and k["hard"][0] - 1e-9 <= x <= k["hard"][1] + 1e-9,
               f"{e['ch']} was set to {x}, outside {k['hard']}", e["t"])
    for e in rec.of("dose"):
        k = next(k for k in rec.plan.variables if k["ch"] == e["ch"])
        v.hold(0 < e["value"] <= min(k["range"][1], k["per_dose"]) + 1e-9, f"a dose of {e['value']} on {e['ch']}", e["t"])
    for e in rec.of("garbled-setpoint"):
        v.hold(False, f"no setpoint: {e['payload']}", e["t"])
    if rec.final:
        for row in rec.final["decision_value"]:
            k = rec.plan.variables[row["variable"]]
            if row["requested"] is not None:
                v.hold(k["range"][0] - 1e-9 <= row["requested"] <= k["range"][1] + 1e-9, f"step {row['step']} asks for {k['name']} = {row['requested']}")
    return v


def resolution(rec):
    """Every setpoint and every dose is a multiple of the variable's resolution."""
    v = Verdict()
    for e in rec.of("set", "dose"):
        k = next(k for k in rec.plan.variables if k["ch"] == e["ch"])
        if k["resolution"]:
            parts = e["value"] / k["resolution"]
            edge = not k["dose"] and min(abs(e["value"] - b) for b in (*k["hard"], k["safe"])) < 1e-6
            v.hold(edge or abs(parts - round(parts)) < 1e-4, f"{e['ch']} = {e['value']} is no multiple of {k['resolution']}", e["t"])
    return v


def readbacks(session, ch, since, until):
    return [e["value"] for e in session.events if e["k"] == "served" and e["ch"] == ch and since <= e["t"] <= until and isinstance(e["value"], (int, float))]


def changes(rec):
    """Pairs of following setpoints of one knob in one session: (session, knob, before, event). before is None for the first;
    its "since" is when the knob was first told its value, however often that was repeated for the lease."""
    for session in rec.sessions:
        last = {}
        for e in session.events:
            if e["k"] == "release":
                last.pop(e["ch"], None)
            elif e["k"] == "set":
                k = next(k for k in rec.knobs if k["ch"] == e["ch"])
                before = last.get(e["ch"])
                yield session, k, before, e
                again = before is not None and before["value"] == e["value"]
                last[e["ch"]] = dict(e, since=before["since"] if again else e["t"])


def waited(rec, k, before, e):
    """The time that a single step may count: two ticks, and what the dwell and an answer that came late kept it waiting."""
    allowed = 2 * rec.plan.tick
    if before is None:
        return allowed
    wait = (k["dwell"] or 0.0) + under_way(rec, k, before["t"] - 0.05, e["t"])
    if rec.plan.confirm:
        wait += rec.plan.confirm_timeout if rec.fault_between(before["t"] - 1, e["t"], CALM) else answered(rec, e)
    return max(allowed, min(e["t"] - before["since"] + rec.lost(before["t"] - 0.5, e["t"]), wait) + allowed)


def answered(rec, e):
    """How long the last setpoint before e on any topic waited for its confirmation."""
    sets = [x["t"] for x in rec.of("set", since=e["t"] - 2, until=e["t"] - 1e-6)]
    told = [x["t"] for x in rec.of("told", since=e["t"] - 2, until=e["t"])]
    return max([t - max([s for s in sets if s < t], default=t) for t in told], default=0.0) + 0.05


def slew(rec):
    """No setpoint is further from the one before than the slew allows in two ticks (and the dwell, or a wait for its answer); over a longer time, than the slew
    allows in that time and two ticks. The safe value, once something has happened, comes at once."""
    v = Verdict()
    for session, k, before, e in changes(rec):
        step = waited(rec, k, before, e) * k["slew"] + (k["resolution"] or 0) + k["tolerance"] + 1e-6
        bases = ([before["value"]] if before else []) + readbacks(session, k["ch"], e["t"] - 4.0, e["t"])
        if not bases or abs(e["value"] - k["safe"]) < 1e-3 + (k["resolution"] or 0) and rec.may_jump(session, e["t"]):
            continue
        nearest = min(abs(e["value"] - b) for b in bases)
        if nearest == 0 and before:
            continue
        v.hold(nearest <= step, f"{k['ch']} went from {bases[0]} to {e['value']}: more than {step:.4g}", e["t"])
    for session in rec.sessions:
        for k in rec.knobs:
            track = [e for e in session.events if e["k"] == "set" and e["ch"] == k["ch"]]
            for i, e in enumerate(track):
                if i < 4 or rec.fault_between(track[i - 4]["t"] - 1, e["t"], CALM):
                    continue
                a = track[i - 4]
                time = e["t"] - a["t"] + 2 * rec.plan.tick + 0.02 + rec.lost(a["t"] - 0.3, e["t"] + 0.1)
                if e["value"] == a["value"] or abs(e["value"] - k["safe"]) < 1e-3 + (k["resolution"] or 0):
                    continue
                v.hold(abs(e["value"] - a["value"]) <= time * k["slew"] + (k["resolution"] or 0) + 1e-6,
                       f"{k['ch']} moved by {abs(e['value'] - a['value']):.4g} in {e['t'] - a['t']:.3f} s, the slew is {k['slew']} a second", e["t"])
    return v


CALM = ("nothing", "kill", "kill_at_setpoint", "kill_at_step", "kill_at_dose", "terminate", "pause_resume", "sensor_silent", "sensor_out_of_range", "bad_commands",
        "forged", "set_best", "power_cut", "power_cut_at_step", "power_cut_at_dose")


def dwell(rec):
    """Two changes of a knob are no closer than its dwell; the safe value does not wait."""
    v = Verdict()
    changed = {}
    for session, k, before, e in changes(rec):
        if not k["dwell"] or before is None or before["value"] == e["value"]:
            continue
        last = changed.get((session.n, k["ch"]))
        changed[(session.n, k["ch"])] = e["t"]
        if last is None or abs(e["value"] - k["safe"]) < 1e-3 + (k["resolution"] or 0) or rec.fault_between(last - 1, e["t"], CALM):
            continue
        v.hold(e["t"] - last + rec.lost(last - 0.3, e["t"]) >= k["dwell"] - 0.5 * rec.plan.tick - 0.03,
               f"{k['ch']} changed again after {e['t'] - last:.3f} s, its dwell is {k['dwell']} s", e["t"])
    return v


def lease(rec):
    """While a run goes on or is held, a setpoint that has a lease is said again within a third of it, and says how long it stands."""
    v = Verdict()
    held = CALM[5:]
    for session, k, before, e in changes(rec):
        if not k["lease"]:
            continue
        if abs(e["value"] - k["safe"]) < 1e-3 + (k["resolution"] or 0):
            pass    # a halt's safe value stands for ever
        elif e.get("for_ms") is not None or k["lasts"] and e["dev"] in ("exec", "mqtt") and not rec.plan.number_format:
            v.hold(e.get("for_ms") == k["lease"] * 1000, f"a setpoint of {k['ch']} says that it lasts {e.get('for_ms')} ms, its lease is {k['lease']} s", e["t"])
        if before is None or rec.fault_between(before["t"] - 1, e["t"], held) or rec.idle(session, before["t"] - 1, e["t"]) or doubted(session, before["t"] - 1, e["t"]):
            continue
        gap = e["t"] - before["t"]
        allowed = k["lease"] / 3 + 2 * rec.plan.tick + 0.15 + 2 * rec.lost(before["t"], e["t"]) + under_way(rec, k, before["t"], e["t"])
        v.hold(gap <= allowed, f"{k['ch']} was not said for {gap:.3f} s, its lease is {k['lease']} s", e["t"])
    for session in rec.sessions:    # nor is it forgotten until the end
        for k in rec.knobs:
            sets = [e for e in session.events if e["k"] == "set" and e["ch"] == k["ch"]]
            ends = [e["t"] for e in session.events if e["k"] in ("signal", "exit", "closing") or e["k"] in ("release", "lapsed") and e["ch"] == k["ch"]
                    or e["k"] == "out" and (e.get("doc") or {}).get("type") == "result"
                    or e["k"] == "fault" and e["name"] not in held or e["k"] == "err" and ("tripped" in e["line"] or "stopp" in e["line"] or "fall" in e["line"])]
            if not (k["lease"] and sets):
                continue
            ends += rec.rested(session)
            end = min((t for t in ends if t > sets[-1]["t"]), default=None)
            if end and not rec.idle(session, sets[-1]["t"] - 1, end) and not doubted(session, sets[-1]["t"] - 1, end) and not rec.fault_between(sets[-1]["t"] - 1, end - 0.01, held):
                gap = end - sets[-1]["t"]
                allowed = k["lease"] / 3 + 2 * rec.plan.tick + 0.15 + 2 * rec.lost(sets[-1]["t"], end) + under_way(rec, k, sets[-1]["t"], end)
                v.hold(gap <= allowed, f"{k['ch']} was not said for {gap:.3f} s until something happened, its lease is {k['lease']} s", end)
    return v


def doubted(session, since, until):
    """A connection to the broker that has flapped carries no setpoints for a while, only safe values (drivers/mqtt), and the device's lease may run out by it."""
    return any(e["k"] == "err" and "connections to the broker end soon" in e["line"] and since < e["t"] < until for e in session.events)


def under_way(rec, k, since, until):
    """Seconds in a window in which the line or the child of a knob was busy with requests that took longer than usual."""
    device = rec.plan.driver["act"]
    busy = 0.0
    if device == "mqtt":    # it waits for the word on a dose, and for the confirmations of one write before the next
        done = since
        for e in rec.of("dose", "set", since=since - 3, until=until, dev="mqtt"):
            if e.get("session") is None:
                continue    # a number alone, which nobody confirms
            told = min([m["t"] for m in rec.of("told", since=e["t"], until=until) if answers(m, e)], default=e["t"] + rec.plan.confirm_timeout + 0.1)
            busy += max(0.0, min(told, until) - max(e["t"], done))
            done = max(done, min(told, until))
        return min(busy, until - since)
    for e in rec.of("ask", since=since - 3, until=until, dev=device):
        end = e.get("until") or e["t"] + rec.patience(e) + 0.1
        took = min(end, until) - max(e["t"], since)
        if took > 0.02:
            busy += took
    return min(busy, until - since)


def age(rec):
    """No setpoint leaves later than its time to live after it was made; numbers rise; nothing is retained."""
    v = Verdict()
    base, last = {}, {}
    for e in rec.of("set", "dose", dev="mqtt"):
        if e.get("sent_ms") is None:
            continue
        made = e["t"] - e["sent_ms"] / 1e3
        base[e["session"]] = min(base.get(e["session"], made), made)
        late = made - base[e["session"]]
        if any(begin - 0.3 < e["t"] - late <= begin and end <= e["t"] < end + 0.02 for begin, end in rec.pauses):
            # Its process was stopped while it left: the device, which it tells its age, does not take it.
            v.hold(not any(abs(m["t"] - e["t"]) < 0.02 and m.get("value") == e.get("value") for m in rec.of("took", since=e["t"] - 0.02, until=e["t"] + 0.02, ch=e["ch"])),
                   f"a setpoint of {e['ch']} that was {late:.3f} s old was taken", e["t"])
            continue
        v.hold(late <= rec.plan.ttl + 0.05 + sum(s[2] for s in rec.stalls if s[1] > e["t"] - late and s[0] < e["t"]),
               f"a setpoint of {e['ch']} left {late:.3f} s after it was made", e["t"])
        v.hold(e["ttl_ms"] == rec.plan.ttl * 1000, f"a setpoint says ttl {e['ttl_ms']} ms, the file {rec.plan.ttl} s", e["t"])
        key = (e["session"], e["ch"])
        v.hold(e["seq"] > last.get(key, 0), f"number {e['seq']} after {last.get(key)} on {e['ch']}", e["t"])
        v.hold(not e["retained"], f"a setpoint of {e['ch']} is retained", e["t"])
        last[key] = e["seq"]
    return v


def stalled(rec):
    """After the program has stood still for longer than the watchdog and the lease, nothing but the safe value is said."""
    v = Verdict()
    for begin, end in rec.pauses:
        session = rec.session_at(begin)
        if session is None or end - begin < 0.6 + max(2.0, 20 * rec.plan.tick) or (session.end and session.end <= end + 0.05):
            continue
        driven = {e["ch"] for e in session.events if e["k"] == "set" and e["t"] < begin - 0.05}
        reset = next((e["t"] for e in session.events if e["k"] == "answer" and e["t"] > end and e.get("command") in ("reset", "resume") and e["ok"]), end + 3)
        if not driven:
            continue
        old = [e for e in session.events if e["k"] == "set" and end + 0.001 < e["t"] < min(reset, end + 3)]
        for k in rec.knobs:
            if k["ch"] in driven:
                wrong = [e for e in old if e["ch"] == k["ch"] and abs(e["value"] - k["safe"]) > 1e-3 + (k["resolution"] or 0)]
                if k["on_fault"] == "off":      # what was let go is taken over where it stands
                    wrong = [e for e in wrong if all(abs(e["value"] - b) > k["tolerance"] for b in readbacks(session, k["ch"], begin - 8, e["t"]))]
                v.hold(not wrong or k["on_fault"] == "hold" and len({e["value"] for e in wrong}) == 1,
                       f"{k['ch']} was set to {wrong[0]['value'] if wrong else ''} after the program had stood still for {end - begin:.1f} s", wrong[0]["t"] if wrong else None)
    return v
