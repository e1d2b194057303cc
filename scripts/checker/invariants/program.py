"""What the program as a whole must do: exit codes, commands, going on, its name at the broker, the missing journal."""

import json

from .record import Verdict
from .safety import causes, is_safe, running


def exit_codes(rec):
    """Only codes that are published; each only where what it says is true; an end within 30 s of being asked for."""
    v = Verdict()
    for session in rec.sessions:
        if session.code is None:
            continue
        said = " ".join(e["line"] for e in session.events if e["k"] == "err")
        v.hold(session.code in (0, 1, 4, 5, 6, 7, 130, -9), f"exit code {session.code}: {said[-300:]}", session.end)
        v.hold("panic:" not in said and "fatal error:" not in said and "goroutine " not in said, f"the program broke: {said[-400:]}", session.end)
        v.hold(not any(e["k"] == "overdue" for e in session.events), "it did not end", session.end)
        if session.code == -9:
            killed = any(e["k"] == "signal" and e["signal"] == "SIGKILL" for e in session.events)
            v.hold(killed, "killed by nobody", session.end)
        if session.code == 4:
            refused = not any(e["k"] in ("set", "dose", "release") for e in session.events)
            v.hold(refused or "tripped" in said or "stop" in said, f"exit code 4 without a trip or a stop: {said[-300:]}", session.end)
        asked = [e for e in session.events if e["k"] == "signal" and e["signal"] in ("SIGTERM", "SIGINT")]
        if asked and session.code != -9:
            t = asked[0]["t"]
            finished = any(e["k"] == "out" and (e.get("doc") or {}).get("type") == "result" and e["t"] < t + 0.5 for e in session.events)
            # All steps were done before: the run was ending by itself, however long its disk took for that.
            finished = finished or any(e["k"] == "out" and (e.get("doc") or {}).get("type") == "step" and e["doc"]["n"] >= rec.plan.steps and e["t"] < t + 0.1 for e in session.events)
            stuck = any(e["k"] == "stuck" and e["t"] > t - 6 for e in session.events)
            exposed = rec.plan.exposure and "exposure of" in said
            stuck = stuck or session.code == 7 and "not confirmed: after" in said   # a device that was too slow to answer
            said_before = [e["line"] for e in session.events if e["k"] == "err" and e["t"] < t and ("held:" in e["line"] or "the hold is over" in e["line"])]
            held = bool(said_before) and "held:" in said_before[-1]      # what holds it may trip it on its way to rest
            if rec.quiet(max(session.start, t - 6), session.end, but=("terminate", "nothing")) and not finished and not stuck and not exposed and not held and running(rec, session, t - 0.01):
                v.hold(session.code == 130, f"interrupted in a quiet run, it ended with {session.code}: {said[-200:]}", t)
            v.hold(session.code in (0, 4, 5, 6, 7, 130, 1), f"interrupted, it ended with {session.code}", t)
        # One that comes when everything is at rest and the result is told ends nothing any more.
        result = min((e["t"] for e in session.events if e["k"] == "out" and (e.get("doc") or {}).get("type") == "result"), default=1e18)
        tripped = [told for told, _, _ in causes(rec, session) if told < result and running(rec, session, told) and (session.end or 0) > told + 0.6 + rec.lost(told, session.end)]
        if tripped and not rec.plan.commands:
            v.hold(session.code in (4, 7, 6, -9), f"tripped, it ended with {session.code}", session.end)
            v.hold(session.end - tripped[0] < 35, f"tripped, it ended after {session.end - tripped[0]:.0f} s", session.end)
    finished = None
    for session in rec.sessions:
        if finished is not None:
            v.hold(session.code == 6, f"a finished run was begun again: exit code {session.code}", session.end)
            v.hold(not any(e["k"] in ("set", "dose") for e in session.events), "a finished run drove again", session.end)
        if session.code == 0:
            finished = session
            note = next((e for e in session.events if e["k"] == "journal"), None)
            after = next((e for e in rec.of("journal", since=session.end)), note)
            journal = rec.journals[after["n"]] if after else None
            if journal and "error" not in journal and not rec.gone:
                v.hold(bool(journal["result"]), "exit code 0 without a result in the journal", session.end)
    return v


def commands(rec):
    """A good command is answered and on record; a bad, repeated or retained one changes nothing; nothing acts that is not on record."""
    v = Verdict()
    bad_until, orders = None, {}
    on_record = {}
    if rec.final:
        for row in rec.final["command"]:
            answer = next((a for a in rec.final["command_answer"] if a["command"] == row["id"]), None)
            on_record.setdefault(row["transaction_id"], []).append((row["name"], answer))
    for e in rec.events:
        if e["k"] == "order":
            orders[e["transaction"]] = e
        if e["k"] == "retained-order":
            acted = [a for t, a in on_record.get(e["transaction"], []) if a and a["ok"]]
            v.hold(not acted, f"a retained pause was obeyed ({e['transaction']})", e["t"])
        if e["k"] == "answer":
            order = orders.get(e["transaction"])
            if e["ok"] and order and not rec.gone and not rec.plan.faultfs and order["command"] != "status":
                rows = on_record.get(e["transaction"], [])
                v.hold(bool(rows), f"{order['command']} ({e['transaction']}) was obeyed and is not on record", e["t"])
            if order and order["repeat"]:
                v.hold(bool(e.get("repeated")) or not e["ok"], f"a repeat of {order['command']} was answered as a new command", e["t"])
    for i, e in enumerate(rec.events):
        if e["k"] == "bad-order":
            if e["bad"] == "retained":
                continue
            order = next((o for o in rec.events[i:] if o["k"] == "order"), None)
            answer = order and next((a for a in rec.events[i:] if a["k"] == "answer" and a["transaction"] == order["transaction"]), None)
            v.hold(not (answer and answer["ok"]), f"a pause that was {e['bad']} was obeyed", e["t"])
    for session in rec.sessions:
        for e in session.events:
            if e["k"] != "order" or e["repeat"] or e["command"] not in ("pause", "resume"):
                continue
            names = rec.fault_between(e["t"], e["t"] + 2.0)
            bad = any(b["k"] == "bad-order" and 0 <= e["t"] - b["t"] < 0.01 for b in session.events)
            up = [l for l in session.events if l["k"] == "link" and l["link"] == "commands" and l["t"] < e["t"]]
            if bad or set(names) - {"pause_resume"} or not up or not up[-1]["up"] or (session.end or 0) < e["t"] + 2.5:
                continue
            # Until it says that it is online it has not subscribed on this connection, and the broker keeps no commands for it.
            if not any(o["k"] == "status" and o["state"] == "online" and not o["retained"] and up[-1]["t"] < o["t"] < e["t"] for o in session.events):
                continue
            answer = next((a for a in session.events if a["k"] == "answer" and a["transaction"] == e["transaction"]), None)
            v.hold(answer is not None, f"{e['command']} was not answered", e["t"])
    return v


def own_name(rec):
    """The program's name at the broker cannot be made from what it says to devices; nobody throws it out by a guess."""
    v = Verdict()
    said = {e["session"] for e in rec.of("set", "dose") if e.get("session")}
    for e in rec.of("link", up=True, link="mqtt"):
        v.hold(not any(s in e["client"] or e["client"] in s for s in said), f"the client id {e['client']} stands in the setpoints", e["t"])
    for e in rec.of("take-over"):
        if any(abs(x["t"] - e["t"]) < 1.2 for x in rec.of("exit")):
            continue    # a run that ends closes its connections by itself
        v.hold(e["thrown_out"] == 0, f"a stranger with one of the names {e['names']} threw the run out", e["t"])
    return v


def goes_on(rec):
    """The next proposal of a resumed run is that of the run that was not interrupted, bit for bit; the record derives anew."""
    v = Verdict()
    # A power cut may come before the journal is durable, and before anything is told that would need it.
    kept = [e["there"] for e in rec.of("journal")]
    unborn = kept and not any(kept) and not any(e["k"] == "out" and (e.get("doc") or {}).get("type") == "step" for e in rec.events)
    for e in rec.of("twin"):
        if e.get("skipped"):
            continue
        v.hold(e["same"], f"after step {e['step']} the uninterrupted run proposed {e['went_on']}, the resumed one {e['resumed']}", e["t"])
    for e in rec.of("cli"):
        if e["args"][0] == "replay" and not rec.gone and not unborn:
            v.hold(e["code"] == 0, f"replay: exit {e['code']}: {e['out'][-500:]}", e["t"])
    numbers = []
    for session in rec.sessions:
        told = [e["doc"]["n"] for e in session.events if e["k"] == "out" and (e.get("doc") or {}).get("type") == "step"]
        numbers += told
    if numbers and not rec.gone:
        v.hold(all(b > a for a, b in zip(numbers, numbers[1:])), f"steps were told twice or out of order: {numbers}")
    return v


def ended_before(rec, t):
    """No process writes the journal at t: none runs, or the one that does has told its result."""
    session = rec.session_at(t)
    return session is None or any(x["k"] == "out" and (x.get("doc") or {}).get("type") == "result" and x["t"] < t for x in session.events)


def missing_journal(rec):
    """A journal that is deleted or replaced is noticed: nothing new is driven without a record, and every step that was told
    is in some journal beside it."""
    v = Verdict()
    gone = list(rec.of("journal-gone"))
    found = next((x for x in rec.of("rescued")), None)
    if found is None or any(ended_before(rec, e["t"]) for e in gone):    # after the end nobody notices, and what was rescued earlier is gone too
        return v
    for e in gone:
        session = rec.session_at(e["t"])
        said = [x for x in session.events if x["k"] == "err" and x["t"] > e["t"] and ("journal" in x["line"] or "record" in x["line"])]
        if any("file does not exist" in x["line"] for x in said):
            continue    # the process had not opened it yet: it refuses to begin, and there was nothing to keep
        v.hold(bool(said), f"a journal that was {e['how']} under the run was not told of", e["t"])
        told = {(x["doc"]["n"]) for s in rec.sessions for x in s.events if x["k"] == "out" and s.n <= session.n and (x.get("doc") or {}).get("type") == "step"}
        v.hold(told <= set(found["steps"]), f"{len(told - set(found['steps']))} of {len(told)} steps that were told are in no journal", e["t"])
        v.hold(session.code not in (0, 130) or not said == [], f"exit code {session.code} as if all were well", e["t"])
    return v


def line_manners(rec):
    """On a serial line nothing is written before the instrument has said who it is; on a child nothing before it has been tried."""
    v = Verdict()
    for session in rec.sessions:
        known = {"serial": False, "meter": False}
        for e in session.events:
            if e["k"] == "link" and e["link"] in known and not e["up"]:
                known[e["link"]] = False
            if e["k"] == "ask" and e["dev"] in known:
                line = e["line"].rsplit("\x18", 1)[-1].strip()
                if line in ("ID?", "*IDN?"):
                    known[e["dev"]] = True
                elif line[:2] in ("M ", "D "):
                    v.hold(known[e["dev"]], f"{line} was written before the instrument was found again", e["t"])
                elif line:
                    v.hold(line[:2] in ("R ", "X "), f"{e['dev']} was told {line!r}", e["t"])
    for e in rec.of("nonsense", "odd"):
        v.hold(False, f"a child was told {e.get('line', e)}", e["t"])
    return v


def first_read(rec):
    """Nothing is driven before it has been read in this session, nor while a permissive or an interlock is not healthy at the start."""
    v = Verdict()
    for session in rec.sessions:
        seen = set()
        for e in session.events:
            if e["k"] == "served":
                seen.add(e["ch"])
            if e["k"] == "set" and e["ch"] not in {x["ch"] for x in session.events if x["k"] == "set" and x["t"] < e["t"]}:
                v.hold(e["ch"] in seen and "door" in seen, f"{e['ch']} was driven before it and the interlock had been read", e["t"])
                door = [x["value"] for x in session.events if x["k"] == "served" and x["ch"] == "door" and x.get("good") and x["t"] < e["t"]]
                first = not any(x["k"] in ("set", "dose") for x in session.events if x["t"] < e["t"])
                if first and door:
                    knob = next((k for k in rec.knobs if k["ch"] == e["ch"]), None)     # a run that has begun trips to its safe values
                    safe = 1.0 in door and knob is not None and abs(e["value"] - knob["safe"]) < 1e-3 + (knob["resolution"] or 0)
                    v.hold(door[-1] >= 0.5 or door[-2:] == [1.0, 0.0] or safe, f"{e['ch']} was driven with the interlock open", e["t"])
                aux = [x["value"] for x in session.events if x["k"] == "served" and x["ch"] == "aux" and x.get("good") and x["t"] < e["t"]]
                if first and rec.plan.permissive and aux:
                    v.hold(any(0 <= a <= 50 for a in aux[-3:]), f"{e['ch']} was driven, and the permissive was not there: {aux[-3:]}", e["t"])
                # What it knows when it decides: one of the newest readings, by when they came.
                back = [(x["t"], x["value"]) for x in session.events if x["k"] == "served" and x["ch"] == e["ch"] and x["t"] < e["t"]]
                recent = e["t"] - 2 * rec.plan.tick - rec.lost(e["t"] - 0.3, e["t"])
                known = [value for t, value in back if t >= recent] + [value for t, value in back if t < recent][-1:]
                k = next(k for k in rec.knobs if k["ch"] == e["ch"])
                if first and known:
                    v.hold(any(k["hard"][0] - k["tolerance"] <= value <= k["hard"][1] + k["tolerance"] for value in known),
                           f"{e['ch']} was driven from {known}, outside its limits", e["t"])
    return v


def waits(rec):
    """A run that was started with --resume hold drives nothing before it is told to resume; only a stop brings it to its safe values."""
    v = Verdict()
    for session in rec.sessions:
        args = next(e["args"] for e in session.events if e["k"] == "start")
        if "--resume" not in args:
            continue
        resumed = next((e["t"] for e in session.events if e["k"] == "order" and e["command"] == "resume"), 1e18)
        stopped = next((e["t"] for e in session.events if e["k"] == "order" and e["command"] == "stop"), 1e18)
        safe = {k["ch"]: dict(k, on_fault="safe") for k in rec.knobs}      # a stop makes safe, from any state
        early = [e for e in session.events if e["k"] in ("set", "dose") and e["t"] < resumed
                 and not (e["k"] == "set" and e["t"] > stopped and is_safe(safe[e["ch"]], e["value"]))]
        v.hold(not early, "it drove before anybody had said resume", early[0]["t"] if early else None)
    return v


def alone(rec):
    """A second process of the same file ends with 6 and drives nothing."""
    v = Verdict()
    for e in rec.of("cli"):
        if e["args"][0] == "run":
            session = rec.session_at(e["t"] - 0.05)
            if session and (session.end is None or session.end > e["t"]):
                v.hold(e["code"] == 6, f"a second process ended with {e['code']}: {e['out'][-300:]}", e["t"])
    return v


def state_true(rec):
    """What the state says over MQTT is what is: tripped after a trip, running while it drives."""
    v = Verdict()
    for session in rec.sessions:
        if not rec.plan.commands:
            continue
        for told, bound, why in causes(rec, session):
            if not running(rec, session, told) or "stop" in why:
                continue
            later = [e for e in session.events if e["k"] == "state" and told + 1.8 < e["t"] < told + 4.0]
            reset = any(e["k"] == "order" and told < e["t"] < told + 4.0 for e in session.events)
            if later and not reset:
                v.hold(later[0]["state"] in ("tripped", "stopped", "ending", "ended"), f"{why}: the state says {later[0]['state']}", later[0]["t"])
    return v
