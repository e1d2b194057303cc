"""Trips, stops and holds: in time, for good, and as the last message."""

from .record import Verdict

BOUND = 0.4     # s: published for an open interlock at ticks up to 100 ms


def state_before(session, k, t):
    """The newest thing said to a knob before t: a value, "off", or None."""
    last = None
    for e in session.events:
        if e["t"] > t:
            break
        if e.get("ch") == k["ch"] and e["k"] in ("set", "release"):
            last = e["value"] if e["k"] == "set" else "off"
        if e["k"] == "self-safe":
            last = k["safe"]
    return last


def is_safe(k, said):
    """Whether that is the knob's state on a fault."""
    if k["on_fault"] == "hold":
        return True
    if k["on_fault"] == "off":
        return said == "off" or not isinstance(said, str) and said is not None and abs(said - k["safe"]) < 2e-3 + (k["resolution"] or 0)
    return said not in (None, "off") and abs(said - k["safe"]) < 2e-3 + (k["resolution"] or 0)


def causes(rec, session):
    """Moments at which the run had to trip: (time by which the program was told, how long it may take, why)."""
    for opening in [e for e in session.events if e["k"] == "door" and e["open"]]:
        closing = next((e["t"] for e in rec.of("door", since=opening["t"]) if not e["open"]), 1e18)
        told = next((e for e in session.events if e["k"] == "served" and e["ch"] == "door" and e["value"] == 0.0 and e.get("good")
                     and opening["t"] <= e["t"] < closing), None)
        if told and closing - told["t"] > 0.5:
            yield told["t"], BOUND, "an open interlock"
    for since, until in unheard(rec, session, "door"):
        if until > since + BOUND + 0.2:
            yield since + 2 * rec.plan.tick, BOUND, "a silent interlock"
    for stop in [e for e in session.events if e["k"] == "command" and e["command"] == "stop" and not e["retained"]]:
        yield stop["t"], BOUND, "a stop"


def wanted(rec, why):
    """The knobs, each with the state that this cause brings it to: a stop makes every one safe, whatever a fault would do."""
    return [dict(k, on_fault="safe") for k in rec.knobs] if why == "a stop" else rec.knobs


def unheard(rec, session, sensor):
    """Windows in which the newest reading of a sensor that the program can have was older than its max_age: readings count from when
    they were taken, by their own word. Nothing is said of the time in which the program stood still."""
    age = max(rec.plan.max_age[sensor], 3 * rec.plan.tick)
    fresh, windows = None, []
    for e in session.events:
        heard = e["k"] == "served" and e["ch"] == sensor
        over = e["k"] in ("exit", "closing")
        if fresh is not None and (heard or over) and e["t"] > fresh + age:
            if windows and windows[-1][0] == fresh + age:
                windows.pop()
            windows.append((fresh + age, e["t"]))
        if over:
            break
        if heard:
            fresh = max(fresh or 0.0, e["t"] - e.get("age", 0.0))
    return [(since, until - rec.lost(since - age, until)) for since, until in windows
            if not any(begin < until and end > since - age for begin, end in rec.pauses)]


def running(rec, session, t):
    """Whether the run was driving at t: something had been set, and nothing had ended or tripped it."""
    if session.end is not None and session.end <= t + 0.05:
        return False
    driven = halted = fallen = let_go = False
    for e in session.events:
        if e["t"] >= t:
            break
        if e["k"] == "ask":
            let_go = False
        if e["k"] == "self-safe":   # a run that has fallen back ends its child, and may then wait for its disk
            let_go = fallen
        if e["k"] == "set" and not halted:
            driven = True
        if e["k"] in ("closing", "overdue") or e["k"] == "signal" and e["signal"] not in ("SIGCONT", "SIGSTOP"):
            return False
        if e["k"] == "err":
            if "tripped" in e["line"] or "stopping" in e["line"] or "fall" in e["line"] or "asked for by mqtt" in e["line"] and "reset" in e["line"]:
                driven = False
            fallen = fallen or "error: fallen back" in e["line"]
            if "error: tripped" in e["line"]:
                halted = True       # what is written now is safe, until someone has it go on
            if "resume asked for" in e["line"] and "armed" in e["line"]:
                halted = False
        if e["k"] == "out" and (e.get("doc") or {}).get("type") == "result":
            return False
        if e["k"] == "command" and e["command"] == "stop":
            return False
    return driven and not let_go


def links(rec, device, since, until):
    """Whether the way to a device was open at `since`, and the first time in the window at which it was made anew after a cut."""
    up, again = device != "mqtt", None
    for e in rec.of("link", until=until, link=device):
        if e["t"] <= since:
            up = e["up"]
        elif e["up"]:
            again, up = e["t"], True
        else:
            again, up = None, False
    return up, again


def busy(rec, device, since, until):
    """Until when the request that was under way at `since` lasted, and one more that may have been begun before the tick."""
    if device == "mqtt":
        return since
    end = since
    for e in rec.of("ask", since=since - 5, until=since + 0.25, dev=device):
        over = e.get("until") or min(e["t"] + rec.patience(e) + 0.3, until)
        if over > since:
            end = max(end, min(over, e["t"] + rec.patience(e) + 0.3))
    return end


def safe_in_time(rec):
    """After an open or silent interlock, or a stop, the safe value is on the wire within the published bound:
    0.4 s over an open MQTT connection; on a line or a child, after the request under way."""
    v = Verdict()
    device = rec.plan.driver["act"]
    for session in rec.sessions:
        for told, bound, why in causes(rec, session):
            if not running(rec, session, told):
                continue
            for k in wanted(rec, why):
                if k["on_fault"] == "hold" or state_before(session, k, told) is None:
                    continue
                begin = busy(rec, device, told, told + 3)
                up, again = links(rec, device, told, begin + bound)
                if not up and again is None or device != "mqtt" and device_ill(rec, session, device, told, begin + bound):
                    continue
                begin = max(begin, again or 0) + (0.1 if device != "mqtt" else 0.0)
                begin += turns(rec, device, k, told, begin + bound)
                limit = begin + bound + rec.lost(told - 0.2, begin + bound + 0.3)
                if any(e["k"] in ("signal",) and told < e["t"] < limit and e["signal"] in ("SIGKILL", "SIGSTOP") for e in session.events):
                    continue
                limit = min(limit, session.end or 1e18)     # a run that has ended has nothing to add
                if links(rec, device, told, limit)[1] not in (again,) or not links(rec, device, told, limit)[0]:
                    continue    # cut again within the window: judged at the next opening
                said = state_before(session, k, limit)
                first = next((e["t"] for e in session.events if e["t"] > told and e.get("ch") == k["ch"] and e["k"] in ("set", "release")
                              and is_safe(k, e["value"] if e["k"] == "set" else "off")), None)
                v.hold(is_safe(k, said), f"{k['ch']} was not at its {k['on_fault']} state {limit - told:.2f} s after {why}"
                       + (f" (it came after {first - told:.2f} s)" if first else " (it never came)"), told)
    return v


def turns(rec, device, k, since, until):
    """How long the line was busy with telling the other actuators on it, one exchange each."""
    if device != "serial":
        return 0.0
    spent = 0.0
    for e in rec.of("ask", since=since, until=until + 3, dev=device):
        words = e["line"].rsplit("\x18", 1)[-1].split()
        if words[:1] in (["M"], ["X"], ["D"]) and words[1:2] != [k["ch"]] and e["t"] <= until + spent:
            spent += (e.get("until") or e["t"] + rec.plan.reply_timeout) - e["t"]
    return spent


def device_ill(rec, session, device, since, until):
    """A child or a line that did not answer in time cannot be told anything before it is open again."""
    if device == "exec":
        return any(e["t"] > since - 3 for e in rec.of("link", link="exec", until=until) if not e["up"])
    return any(e.get("until") is None or e["until"] - e["t"] > rec.patience(e) for e in rec.of("ask", since=since - 3, until=until, dev=device)) \
        or any(not e["up"] for e in rec.of("link", link=device, since=since - 3, until=until))


def stays_safe(rec):
    """What a trip or a stop has brought to safety stays there: the last message that each device sees is the safe one,
    until someone has said reset and resume. A restart is no reset."""
    v = Verdict()
    latched = None
    for session in rec.sessions:
        if latched:
            freed = any(e["code"] == 0 and e["args"][0] == "reset" for e in rec.of("cli", since=latched, until=session.start))
            if not freed and session.end:
                drove = [e for e in session.events if e["k"] in ("set", "dose") and not (e["k"] == "set" and any(k["ch"] == e["ch"] and is_safe(dict(k, on_fault="safe"), e["value"]) for k in rec.knobs))]
                v.hold(not drove, "a restart drove although nobody had reset the trip", drove[0]["t"] if drove else None)
                v.hold(session.code not in (0, 130) or not session.events, f"a restart after a trip that nobody had reset ended with {session.code}", session.end)
                continue
            latched = None
        for told, bound, why in causes(rec, session):
            if not running(rec, session, told):
                continue
            settled = told + bound + 0.3 + rec.lost(told - 0.2, told + bound + 0.5)
            if rec.plan.driver["act"] != "mqtt":
                settled = max(settled, busy(rec, rec.plan.driver["act"], told, told + 3) + bound)
            if session.end and session.end < told + 0.05:
                continue
            tripped = next((e["t"] for e in session.events if e["k"] == "err" and e["t"] >= told - 0.1 and ("tripped" in e["line"] or "stop" in e["line"]) and "fallen back" not in e["line"]), None)
            if tripped is None:     # or it had fallen back, and ended: its devices are closed, and nothing is latched
                continue
            latched = told
            reset = next((e["t"] for e in session.events if e["k"] == "order" and e["command"] == "reset" and e["t"] > told), session.end or 1e18)
            for k in wanted(rec, why):
                if k["on_fault"] == "hold" or state_before(session, k, told) is None:
                    continue
                wrong = [e for e in session.events if e["k"] == "set" and e["ch"] == k["ch"] and settled < e["t"] < reset
                         and not is_safe(dict(k, on_fault="safe"), e["value"])]
                v.hold(not wrong, f"{k['ch']} was set to {wrong[0]['value'] if wrong else ''} {(wrong[0]['t'] - told) if wrong else 0:.2f} s after {why}", wrong[0]["t"] if wrong else None)
                end = min(reset, (session.end or 1e18) + 0.2)
                acted = None
                for e in session.events + ([] if not session.exit else [session.exit]):
                    if e["t"] < end and e.get("ch") == k["ch"] and e["k"] in ("took", "let-go"):
                        acted = e["value"] if e["k"] == "took" else "off"
                    if e["t"] < end and (e["k"] == "self-safe" or e["k"] == "lapsed" and e["ch"] == k["ch"]):
                        acted = k["safe"]
                up, _ = links(rec, rec.plan.driver["act"], told, end)
                if up and acted is not None and end - told > 2.5 and not device_ill(rec, session, rec.plan.driver["act"], told, end) and reached(rec, k, session, told, end):
                    v.hold(is_safe(k, acted), f"the last that {k['ch']} saw after {why} was {acted}", told)
            if any(e["k"] == "answer" and e.get("command") == "reset" and e["ok"] and e["t"] > told for e in session.events):
                latched = None
    return v


def reached(rec, k, session, since, until):
    """Whether the safe value, once it was on the wire, was passed on: nothing stalled or cut it on its way to the device."""
    return not any(e["t"] > since - 0.1 and e["t"] < until and e["k"] in ("stalled",) for e in session.events) \
        and not any(not e["up"] and since - 0.1 < e["t"] < until - 0.1 for e in session.events if e["k"] == "link")


def at_rest(rec):
    """A run that ends with 0, 4 or 130 has left every actuator that it drove in the state that the file declares."""
    v = Verdict()
    for session in rec.sessions:
        if session.code not in (0, 4, 130) or session.exit is None:
            continue
        driven = {e["ch"] for e in session.events if e["k"] in ("set", "release")}
        if any(e["k"] == "hand" and e["t"] > session.end - 4 for e in session.events):
            continue
        for k in rec.knobs:
            wanted = k["on_fault"] if session.code == 4 else k["shutdown"]
            if k["ch"] not in driven or wanted != "safe" or k["on_fault"] != "safe" and not rec.quiet(session.start, session.end, but=("terminate", "kill")):
                continue    # what had fallen back stays in its fault state
            knob = session.exit["later_knobs"][k["ch"]]
            v.hold(abs(knob - k["safe"]) <= k["tolerance"] + 1e-6,
                   f"exit code {session.code}, and {k['ch']} stands at {knob}, its safe value is {k['safe']}", session.end)
    return v


def holds(rec):
    """While a sensor that must be heard is silent or impossible, and while someone has paused the run, no knob gets a new
    destination: what is said is the value that stands, or is on its way to safety."""
    v = Verdict()
    for session in rec.sessions:
        for since, until, why in hold_windows(rec, session):
            since += rec.lost(since - 0.3, since + 0.2)
            for k in rec.knobs:
                said = [e["value"] for e in session.events if e["k"] == "set" and e["ch"] == k["ch"] and since < e["t"] < until]
                stood = state_before(session, k, since)
                if stood in (None, "off") or until - since < 0.3 or not running(rec, session, since):
                    continue
                path = [stood] + said
                moved_off = [b for a, b in zip(path, path[1:]) if abs(b - a) > 1e-9 and abs(b - k["safe"]) > abs(a - k["safe"]) + 1e-9]
                backs = readbacks_near(session, k["ch"], since - 1, until)
                moved_off = [b for b in moved_off if all(abs(b - r) > k["tolerance"] + (k["resolution"] or 0) for r in backs)]
                # The setpoint of the tick in which the hold began may leave after it, where its device was not free.
                moved_off = [b for b in moved_off if not k["slew"] or abs(b - stood) > k["slew"] * (2 * rec.plan.tick + 0.05)]
                v.hold(not moved_off, f"{k['ch']} was set to {moved_off[0] if moved_off else ''} while {why}", since)
            doses = [e for e in session.events if e["k"] == "dose" and since < e["t"] < until]
            if rec.plan.doses and until - since > 0.3:
                v.hold(not doses, f"a dose was given while {why}", since)
    return v


def readbacks_near(session, ch, since, until):
    return [e["value"] for e in session.events if e["k"] == "served" and e["ch"] == ch and since <= e["t"] <= until and isinstance(e["value"], (int, float))]


def falls_back(rec):
    """A hold that lasts longer than hold_max becomes a fallback: every knob is at its fault state, at its slew."""
    v = Verdict()
    for session in rec.sessions:
        for begin, end, name in rec.faults:
            heard = [e["t"] for e in session.events if e["k"] == "served" and e["ch"] == "aux" and begin - 5 < e["t"] <= begin + 0.1]
            if name != "long_silence" or not heard or not running(rec, session, begin + 1.0) or rec.driver_busy():
                continue
            for k in rec.knobs:
                stood = state_before(session, k, begin + 1.0)
                if k["on_fault"] != "safe" or stood in (None, "off"):
                    continue
                way = abs(stood - k["safe"]) / k["slew"]
                ticks = way / rec.plan.tick + 4
                due = heard[-1] + rec.plan.max_age["aux"] + rec.plan.hold_max + way * 1.3 + (k["dwell"] or 0.0) * (1 + way / max(k["dwell"] or 1.0, rec.plan.tick)) + 0.6
                due += rec.lost(heard[-1], due) + ticks * 0.02
                if rec.plan.confirm:    # each step of the way waits for its confirmation, and counts as two ticks at most
                    due += ticks * (rec.plan.confirm_takes + 0.05)
                if due > min(end, session.end or 1e18):
                    continue
                v.hold(is_safe(k, state_before(session, k, due)), f"{k['ch']} was not at its safe value {due - heard[-1]:.1f} s after sensor aux fell silent, hold_max is {rec.plan.hold_max} s", due)
    return v


def exposure(rec):
    """A knob is above its exposure's value for no longer than the exposure's time, and the way down; a run that has ended leaves none above it."""
    v = Verdict()
    limit = rec.plan.exposure
    if not limit:
        return v
    k = next(k for k in rec.knobs if k["ch"] == limit["ch"])
    for session in rec.sessions:
        driven = any(e["k"] == "set" and e["ch"] == k["ch"] for e in session.events)
        if session.code in (0, 4, 130) and session.exit is not None and driven and not any(e["k"] == "hand" and e["t"] > session.end - 4 for e in session.events):
            knob = session.exit["later_knobs"][k["ch"]]
            v.hold(knob <= limit["above"] + k["tolerance"] + 1e-6,
                   f"exit code {session.code}, and {k['ch']} was left at {knob}, above {limit['above']}, where its exposure lets it be for {limit['time']} s", session.end)
        since = None
        for e in session.events:
            if e["k"] not in ("set", "took", "lapsed", "self-safe", "exit") or e.get("ch", k["ch"]) != k["ch"] or e["k"] == "set":
                continue
            above = e["k"] == "took" and e["value"] > limit["above"] + k["tolerance"]
            if since is None and above:
                since = e["t"]
            elif since is not None and not above:
                way = (k["hard"][1] - limit["above"]) / k["slew"]
                allowed = limit["time"] + 3 * rec.plan.tick + 1.3 * way + 2 * (k["dwell"] or 0.0) + 0.4 + rec.lost(since, e["t"]) + rec.plan.confirm_timeout * bool(rec.plan.confirm)
                if rec.plan.driver["act"] == "serial" and rec.fault_between(since, e["t"], ()):
                    allowed += 1.5 + rec.plan.reply_timeout + 2 * rec.plan.tick    # its walk waits for a reading under way, at most until the interlock on that line is too old
                if not rec.fault_between(since, e["t"], ("exposed", "sensor_silent", "sensor_out_of_range", "pause_resume", "bad_commands", "second_instance", "nothing", "long_silence")):
                    v.hold(e["t"] - since <= allowed, f"{k['ch']} was above {limit['above']} for {e['t'] - since:.2f} s, {limit['time']} s are allowed", e["t"])
                since = None
    return v


def make_safe(rec):
    """make-safe that ends with 0 has brought every actuator to its on_fault state."""
    v = Verdict()
    for e in rec.of("after-make-safe"):
        command = [c for c in rec.of("cli", until=e["t"]) if c["args"][0] == "make-safe"][-1]
        v.hold(command["code"] in (0, 7), f"make-safe ended with {command['code']}: {command['out'][-200:]}", e["t"])
        for k in rec.knobs:
            if command["code"] == 0 and k["on_fault"] == "safe":
                v.hold(abs(e["knobs"][k["ch"]] - k["safe"]) <= k["tolerance"] + 1e-6, f"make-safe ended with 0, and {k['ch']} stands at {e['knobs'][k['ch']]}", e["t"])
    return v


def hold_windows(rec, session):
    margin = 3 * rec.plan.tick + 0.15
    for e in session.events:
        if e["k"] == "answer" and e.get("command") == "pause" and e["ok"] and not e.get("repeated"):
            end = next((x["t"] for x in session.events if x["k"] == "order" and x["t"] > e["t"]), session.end or 1e18)
            yield e["t"] + margin, end, "someone had paused the run"
    for since, until in unheard(rec, session, "aux"):
        if until > since + margin + 0.3:
            yield since + margin, until, "sensor aux was silent"
    if rec.plan.stuck_readings:
        yield from lies(rec, session, margin)
    run = []
    for e in [e for e in session.events if e["k"] == "served" and e["ch"] == "aux" and isinstance(e["value"], (int, float))]:
        low, high = rec.plan.ranges["aux"]
        if low <= e["value"] <= high:
            if len(run) >= 4:
                yield run[2] + margin, e["t"], "sensor aux gave impossible values"
            run = []
        else:
            run.append(e["t"])


def lies(rec, session, margin):
    """Windows in which aux repeats itself while a knob moves. (Jumps are made and not judged: what counts as one depends on
    the readings that the program itself took.)"""
    readings = [e for e in session.events if e["k"] == "served" and e["ch"] == "aux" and isinstance(e["value"], (int, float))]
    same = []
    for a, b in zip(readings, readings[1:]):
        same = same + [b["t"]] if a["value"] == b["value"] else []
        count = rec.plan.stuck_readings
        if count and len(same) > count + 2:
            moved = {e["value"] for e in session.events if e["k"] == "set" and same[0] < e["t"] < same[-1]}
            if len(moved) > 1 and len(same) > 3 * count:
                other = next((e["t"] for e in readings if e["t"] > b["t"] and e["value"] != b["value"]), 1e18)
                if other > same[-1] + margin + 0.1:
                    yield same[-1] + margin, min(same[-1] + margin + 0.35, other), "sensor aux repeated itself"
                same = []


def must_trip(rec):
    """A setpoint that does not show in its readback trips after three repeats; a dose that shows nowhere trips when its response is due."""
    v = Verdict()
    for session in rec.sessions:
        for begin, end, name in rec.faults:
            if not (session.start < begin and (session.end is None or begin < session.end)) or not running(rec, session, begin):
                continue    # on its way to rest a run repeats its safe value: there is nothing to trip to
            reacted = [e for e in session.events if e["k"] == "err" and begin < e["t"] and any(word in e["line"] for word in ("tripped", "held", "fall", "stopp"))]
            if name == "dry_pump":
                doses = [e for e in session.events if e["k"] == "dosed" and begin < e["t"] < end and e["amount"] >= 1.0]
                due = doses[0]["t"] + 3.0 + 1.0 + rec.lost(begin, end) if doses else None
            elif name == "knob_stuck" and end - begin > 6.5:
                stuck = next((e for e in session.events if e["k"] == "stuck" and e["t"] >= begin), None)
                # A safe value that does not show is written again until it does: there is nothing to trip to.
                rest = next((k["safe"] for k in rec.knobs if stuck and k["ch"] == stuck["ch"]), None)
                moves = [e for e in session.events if e["k"] == "set" and stuck and e["ch"] == stuck["ch"] and begin < e["t"] < end and abs(e["value"] - stuck["value"]) > 0.05 * abs(stuck["span"])]
                moves = [] if moves and all(abs(e["value"] - rest) < 1e-6 for e in moves) else moves
                # Nor is there for a run that ends meanwhile: it says its rest state, up its slew, until that shows.
                moves = [e for e in moves if not e["intents"] or e["intents"][0][1] != "shutdown"]
                # Each setpoint on the way gives the readback its time anew.
                arrival = end_of_way([e for e in moves if not (reacted and e["t"] > reacted[0]["t"])])
                due = arrival["t"] + 5.5 + rec.lost(begin, end) if arrival else None
            else:
                continue
            if due is None or due > min(end, session.end or 1e18):
                continue
            v.hold(any(e["t"] <= due + 0.5 for e in reacted), f"{name}: the run went on", begin)
    return v


def end_of_way(moves):
    """The first of the setpoints at the end that are all alike; None: there are none."""
    first = None
    for e in reversed(moves):
        if first is not None and e["value"] != first["value"]:
            break
        first = e
    return first
