"""What the journal must say: intents first, nothing lost, true measurements, right sums."""

import json
import math
import statistics

from .record import Verdict, answers
from .setpoints import changes, readbacks


def on_the_way(value, bases, targets, slack):
    """Whether a value lies between where a knob was and where an intent on record says that it goes."""
    return any(min(b, t) - slack <= value <= max(b, t) + slack for b in bases for t in targets)


def intent_first(rec):
    """At the moment at which a setpoint or a dose is seen, its intent is on record. A safe value never waits."""
    v = Verdict()
    for session, k, before, e in changes(rec):
        if e.get("intents") is None or rec.gone and not before_gone(rec, e["t"]):
            continue
        bases = ([before["value"]] if before else readbacks(session, k["ch"], e["t"] - 2, e["t"]))
        if not bases or abs(e["value"] - bases[0]) < 1e-9:
            continue
        slack = (k["resolution"] or 0) + 1e-3 * (rec.plan.driver["act"] == "serial") + 1e-9
        targets = [value for _, _, value in e["intents"][:2] if value is not None]
        safe = rec.begun(session, e["t"]) and on_the_way(e["value"], bases, [k["safe"]], slack)
        if safe:
            continue
        v.hold(on_the_way(e["value"], bases + readbacks(session, k["ch"], e["t"] - 2, e["t"]), targets, slack),
               f"{k['ch']} was set to {e['value']} (from {bases[0]}), and the newest intents on record are {targets}", e["t"])
    last = {}
    for e in rec.of("dose"):
        if e.get("intents") is None:
            last.pop(e["ch"], None)
            continue
        booked = [(number, value) for number, kind, value in e["intents"] if kind == "dose"][:1]
        v.hold(bool(booked) and booked[0][1] is not None and abs(booked[0][1] - e["value"]) < 0.0051,
               f"a dose of {e['value']} on {e['ch']}, and the newest intent on record is {booked}", e["t"])
        v.hold(not booked or booked[0][0] != last.get(e["ch"]), f"two doses on {e['ch']}, and one intent on record: {booked}", e["t"])
        if booked:
            last[e["ch"]] = booked[0][0]
    return v


def before_gone(rec, t):
    return t < min((e["t"] for e in rec.of("journal-gone")), default=1e18)


def intent_survives(rec):
    """After a kill or a power cut the journal still has the intent of the last setpoint and of every dose."""
    v = Verdict()
    for session, journal, number in ended_sessions(rec):
        if session.code != -9:
            continue
        for k in rec.knobs:
            sets = [e for e in session.events if e["k"] == "set" and e["ch"] == k["ch"]]
            if len(sets) < 2:
                continue
            last, bases = sets[-1], [sets[-2]["value"]]
            slack = (k["resolution"] or 0) + 1e-3 * (rec.plan.driver["act"] == "serial") + 1e-9
            if abs(last["value"] - bases[0]) < 1e-9 or rec.begun(session, last["t"]) and on_the_way(last["value"], bases, [k["safe"]], slack):
                continue
            targets = intents_of(journal, rec.plan.driver["act"], k["ch"])[-2:]
            v.hold(on_the_way(last["value"], bases + readbacks(session, k["ch"], last["t"] - 2, last["t"]), targets, slack),
                   f"after the kill no intent is on record for {k['ch']} = {last['value']} (from {bases[0]}): {targets}", last["t"])
        for variable in [x for x in rec.plan.variables if x["dose"]]:
            given = [e["value"] for s in rec.sessions if s.n <= session.n for e in s.events if e["k"] == "dose" and e["ch"] == variable["ch"]]
            booked = [x for x in intents_of(journal, rec.plan.driver["act"], variable["ch"]) if x]
            if given:
                v.hold(len(booked) >= len(given), f"{len(given)} doses were sent on {variable['ch']}, {len(booked)} are on record", session.end)
    return v


def intents_of(journal, device, ch):
    ids = [a["id"] for a in journal["action"] if a["device"] == device]
    return [c["value"] for i in ids for c in journal["action_channel"] if c["action"] == i and c["channel"] == ch and c["value"] is not None]


def ended_sessions(rec):
    """Sessions with the journal as it was after each."""
    taken = [e for e in rec.events if e["k"] == "journal"]
    for session, note in zip([s for s in rec.sessions if s.end is not None], taken):
        journal = rec.journals[note["n"]] if note["n"] < len(rec.journals) else None
        if journal and "error" not in journal:
            yield session, journal, note["n"]


def acknowledged(rec):
    """Every step that the program has told of is in the journal, as it was told; rows are only ever added."""
    v = Verdict()
    for e in rec.of("journal"):
        if e["there"] and not rec.gone:
            v.hold(e["error"] is None, f"the journal {e['when']}: {e['error']}", e["t"])
    before, killed = None, False
    for session, journal, number in ended_sessions(rec):
        if rec.gone and not before_gone(rec, session.end):
            break
        rows = {row["step"]: row for row in journal["outcome"]}
        for e in session.events:
            doc = e.get("doc") or {}
            if e["k"] == "out" and doc.get("type") == "step":
                row = rows.get(doc["n"])
                v.hold(row is not None, f"step {doc['n']} was told of and is not in the journal (exit {session.code})", e["t"])
                if row:
                    same = row["mean"] == doc.get("mean") and row["cost"] == doc.get("cost") and row["spent"] == doc.get("spent")
                    same = same or doc.get("cost") is None and row["mean"] == doc.get("mean")
                    v.hold(same, f"step {doc['n']} was told as {doc.get('mean')}, {doc.get('cost')}, and is on record as {row['mean']}, {row['cost']}", e["t"])
            if e["k"] == "told-outcome":
                v.hold(e["step"] in rows, f"step {e['step']} was told over MQTT and is not in the journal", e["t"])
        if before:
            for table, old in before.items():
                new = journal[table]
                missing = [] if new[:len(old)] == old else list(set(map(row_key, old)) - set(map(row_key, new)))
                if killed or not before["outcome"]:     # a transaction that had not returned may be gone; a run without a step is begun anew
                    tail = set(map(row_key, old[-TAIL.get(table, 40):]))
                    missing = [row for row in missing if row not in tail]
                v.hold(not missing, f"rows of {table} were changed or lost by session {session.n}", session.start)
        before, killed = journal, session.code == -9
    return v


# Rows that one transaction may hold: after a kill the last one may be seen by one reader and not by the next.
TAIL = {"action": 3, "decision": 2, "outcome": 1, "event": 4, "session": 1, "run": 0, "config": 1, "command": 2, "command_answer": 2}


def told_late(rec):
    """A step is on record when it is reported."""
    v = Verdict()
    for e in rec.of("out"):
        if (e.get("doc") or {}).get("type") == "step" and e.get("recorded") is not None and not rec.gone:
            v.hold(e["recorded"], f"step {e['doc']['n']} was told of before it was on record", e["t"])
    return v


def row_key(row):
    return tuple(row.items())


def numbers(rec):
    """Steps, actions and events are numbered without a gap, and each outcome belongs to a decision."""
    v = Verdict()
    if rec.final:
        for table, key in (("decision", "step"), ("action", "id"), ("event", "id"), ("session", "n"), ("command", "id")):
            found = [row[key] for row in rec.final[table]]
            v.hold(found == list(range(1, len(found) + 1)), f"{table} is numbered {found[:3]}...{found[-3:]}")
        steps = {row["step"] for row in rec.final["decision"]}
        v.hold(all(row["step"] in steps for row in rec.final["outcome"]), "an outcome without a decision")
    return v


def measured(rec):
    """Every shot is a value that the instrument served, once, while it was no older than it may be and after the last
    change had settled; mean and variance are those of the shots."""
    v = Verdict()
    if not rec.final:
        return v
    served = {}
    for e in rec.of("served", ch="power"):
        if isinstance(e["value"], (int, float)):
            served.setdefault(round(e["value"], 9), []).append(e)
    used = set()
    for shot in rec.final["shot"]:
        if shot["objective"] is None:
            continue
        key = round(shot["objective"], 9)
        source = served.get(key)
        v.hold(bool(source), f"step {shot['step']}: {shot['objective']} was never said by the instrument")
        if not source:
            continue
        e = next((s for s in source if s.get("good")), source[-1])
        v.hold(any(s.get("good") for s in source), f"step {shot['step']}: {shot['objective']} is no measurement ({e.get('raw', '')})", e["t"])
        low, high = rec.plan.ranges["power"]
        v.hold(low <= shot["objective"] <= high, f"step {shot['step']}: {shot['objective']} is out of range", e["t"])
        v.hold(key not in used, f"step {shot['step']}: {shot['objective']} counts twice", e["t"])
        used.add(key)
        settled(rec, v, shot, e)
    by_step = {}
    for shot in rec.final["shot"]:
        by_step.setdefault(shot["step"], []).append(shot["objective"])
    for row in rec.final["outcome"]:
        values = [x for x in by_step.get(row["step"], []) if x is not None]
        v.hold(row["recorded"] == len(by_step.get(row["step"], [])), f"step {row['step']}: {row['recorded']} shots are said, {len(by_step.get(row['step'], []))} recorded")
        if not row["valid"] or row["mean"] is None or len(values) != row["shots"]:
            continue
        mean = math.fsum(values) / len(values) if rec.plan.statistic == "mean" else statistics.median(values)
        v.hold(abs(row["mean"] - mean) <= 1e-9 * max(1, abs(mean)), f"step {row['step']}: mean {row['mean']}, its shots give {mean}")
        if len(values) > 1 and row["variance"] is not None and rec.plan.statistic == "mean":
            variance = math.fsum((x - mean) ** 2 for x in values) / (len(values) - 1)
            v.hold(abs(row["variance"] - variance) <= 1e-6 * max(1e-9, variance), f"step {row['step']}: variance {row['variance']}, its shots give {variance}")
        v.hold(row["shots"] <= rec.plan.shots, f"step {row['step']}: {row['shots']} shots")
    return v


def by_channel(rec, ch):
    return next(k for k in rec.plan.variables if k["ch"] == ch)


def within_tolerance(rec, arrival):
    """A knob that was within the readback's tolerance of its setpoint all along was in place before it arrived."""
    k = by_channel(rec, arrival["ch"])
    return arrival.get("came_from") is not None and abs(arrival["value"] - arrival["came_from"]) <= k["tolerance"]


def shown(session, rec, arrived, until):
    """Whether a readback that was taken after the last setpoint said that the knob was there, while what the setpoints before it
    did was still on its way: a device that is told to and fro within its own delay shows nothing of it, and settle is for that."""
    k = by_channel(rec, arrived["ch"])
    last = next((e for e in reversed(session.events) if e["k"] == "set" and e["ch"] == arrived["ch"] and e["t"] < arrived["t"]), None)
    return last is not None and arrived["t"] - last["t"] < (k.get("lag") or 0.0) + 0.1 and any(
        e["k"] == "served" and e["ch"] == arrived["ch"] and last["t"] <= e["t"] - e.get("age", 0.0) and e["t"] <= until
        and isinstance(e["value"], (int, float)) and abs(e["value"] - last["value"]) <= k["tolerance"] for e in session.events if last["t"] <= e["t"])


def settled(rec, v, shot, served):
    """The shot's value was taken after the last change of a knob had arrived, and that knob's settle time."""
    session = rec.session_at(served["t"])
    if session is None:
        return
    taken = served["t"] - served.get("age", 0.0)
    values, hands = {}, {}
    change = None
    for e in session.events:
        if e["t"] >= served["t"]:
            break
        if e["k"] == "hand":
            hands[e["ch"]] = e["t"]
        # What a hand does for less than the readback's time-out goes unnoticed, and the next setpoint undoes it (docs/safety.md).
        if e["k"] == "arrived" and e["t"] - hands.get(e["ch"], -1e9) < by_channel(rec, e["ch"])["timeout"] + 0.5 and values.get(e["ch"]) == e["value"]:
            continue
        if e["k"] == "set" and values.get(e["ch"]) != e["value"]:
            values[e["ch"]] = e["value"]
            change = e
        if e["k"] == "dose" or e["k"] == "arrived" and not within_tolerance(rec, e) and not shown(session, rec, e, served["t"]):
            change = e
    if change is None:
        return
    k = by_channel(rec, change["ch"])
    v.hold(taken - change["t"] >= k["settle"] - 0.03 - rec.lost(change["t"] - 0.1, served["t"] + 0.05),
           f"step {shot['step']}: a shot was taken {taken - change['t']:.3f} s after {change['ch']} {'had arrived' if change['k'] == 'arrived' else 'was set'}, which settles in {k['settle']} s", served["t"])


def taken(rec):
    """No shot counts before the device has taken the setpoint: it was not refused, and where the device confirms, this very message was confirmed."""
    v = Verdict()
    if not rec.final:
        return v
    valid = {r["step"] for r in rec.final["outcome"] if r["valid"]}
    served = {}
    for e in rec.of("served", ch="power"):
        if isinstance(e["value"], (int, float)):
            served.setdefault(round(e["value"], 9), e)
    for shot in rec.final["shot"]:
        e = served.get(round(shot["objective"], 9)) if shot["objective"] is not None else None
        session = e and rec.session_at(e["t"])
        if shot["step"] not in valid or not session:
            continue
        last = {}
        begun = max([x["t"] for x in session.events if x["k"] == "out" and (x.get("doc") or {}).get("type") == "step" and x["t"] < e["t"] - 0.05], default=0.0)
        for x in session.events:
            if x["t"] >= e["t"]:
                break
            if x["k"] == "set" and (x["ch"] not in last or last[x["ch"]]["value"] != x["value"]) or x["k"] == "dose" and x["t"] > begun:
                last[x["ch"]] = x
        for ch, x in last.items():
            k = next(k for k in rec.plan.variables if k["ch"] == ch)
            there = readbacks(session, ch, x["t"] - 0.6, x["t"])
            if x["k"] == "set" and there and abs(there[-1] - x["value"]) <= k["tolerance"]:
                continue    # it stood there already
            now = readbacks(session, ch, e["t"] - 0.6, e["t"])
            wanted = [r["applied"] for r in rec.final["decision_value"] if r["step"] == shot["step"] and rec.plan.variables[r["variable"]]["ch"] == ch]
            if x["k"] == "set" and now and wanted and wanted[0] is not None and abs(now[-1] - wanted[0]) <= k["tolerance"] < abs(now[-1] - x["value"]):
                continue    # what was said last was refused for an earlier step: it stands where this one wants it
            done = "dosed" if x["k"] == "dose" else "took"
            v.hold(any(rec.of(done, "dose-again", "self-safe", "lapsed", since=x["t"] - 0.001, until=e["t"] + 0.001)),
                   f"step {shot['step']}: a shot counts, and {ch} = {x['value']} was never taken by the device", e["t"])
            if rec.plan.confirm and x.get("seq"):
                same = [y for y in rec.of("set", "dose", since=x["t"], until=e["t"], ch=ch) if y["value"] == x["value"]]
                v.hold(any(confirms(m, y) for m in rec.of("told", since=x["t"], until=e["t"] + 0.001) if f"/{ch}/" in m["topic"] for y in same),
                       f"step {shot['step']}: a shot counts, and the device had not confirmed message {x['seq']} of {ch}", e["t"])
    return v


def confirms(message, setpoint):
    try:
        said = json.loads(message["payload"])
    except ValueError:
        return False
    return said.get("session") == setpoint["session"] and said.get("seq") == setpoint["seq"] and not said.get("released") and "error" not in said


def achieved(rec):
    """Of a valid step, a controlled knob's x is a readback that the instrument gave, within its tolerance of what was applied;
    a dose's is what was given."""
    v = Verdict()
    if not rec.final:
        return v
    applied = {(r["step"], r["variable"]): r["applied"] for r in rec.final["decision_value"]}
    valid = {r["step"] for r in rec.final["outcome"] if r["valid"]}
    said = {k["ch"]: {round(e["value"], 6) for e in rec.of("served", ch=k["ch"]) if isinstance(e["value"], (int, float))} for k in rec.knobs}
    for row in rec.final["outcome_value"]:
        k = rec.plan.variables[row["variable"]]
        wanted = applied.get((row["step"], row["variable"]))
        if row["step"] not in valid or row["x"] is None or wanted is None:
            continue
        if k["dose"]:
            v.hold(row["x"] == 0 or any(abs(e["amount"] - row["x"]) < 0.0051 for e in rec.of("dosed", ch=k["ch"])), f"step {row['step']}: {k['name']} was never given as {row['x']}")
            continue
        if rec.faulty_step(row["step"]):
            continue
        v.hold(abs(row["x"] - wanted) <= k["tolerance"] + (k["resolution"] or 0) + 1e-6, f"step {row['step']}: {k['name']} = {row['x']} counts as {wanted}")
        # Where the knob was still on its way within its tolerance, x is the mean of what was read.
        v.hold(any(abs(row["x"] - one) <= k["tolerance"] for one in said[k["ch"]]), f"step {row['step']}: {k['name']} = {row['x']} was never read")
    return v


def costs(rec):
    """The ledger is the sum over the steps, each computed anew from the configuration."""
    v = Verdict()
    if not rec.final or not rec.plan.cost:
        return v
    spent = 0.0
    previous = None
    decisions = {r["step"]: r for r in rec.final["decision"]}
    x = {}
    for r in rec.final["decision_value"]:
        x.setdefault(r["step"], {})[rec.plan.variables[r["variable"]]["name"]] = r["applied"]
    compared = {r["step"] for r in rec.final["comparison_step"]}
    for row in rec.final["outcome"]:
        if row["cost"] is None:
            v.hold(False, f"step {row['step']} has no cost")
            continue
        spent += row["cost"]
        v.hold(abs(row["spent"] - spent) < 1e-6, f"step {row['step']}: {row['spent']} spent, the steps sum up to {spent:.9f}")
        v.hold(row["cost"] >= -1e-9, f"step {row['step']} costs {row['cost']}")
        if row["valid"] and row["step"] not in compared:
            want = expected_cost(rec, row, decisions[row["step"]], x[row["step"]])
            moved = move_range(rec, x, row["step"])
            v.hold(want + moved[0] - 1e-6 <= row["cost"] <= want + moved[1] + 1e-6,
                   f"step {row['step']} costs {row['cost']}, the file says {want:.6f} and {moved[0]:.6f} to {moved[1]:.6f} for moving")
    for e in rec.of("state"):
        session = rec.session_at(e["t"])
        if session and session.code == -9 and session.end - e["t"] < 5:
            continue  # the state is what the process knows: a step that has ended counts there before its record is durable
        if e.get("spent") is not None and not rec.gone:
            v.hold(any(abs(e["spent"] - s) < 1e-6 for s in [0.0] + [r["spent"] for r in rec.final["outcome"] if r["spent"] is not None]),
                   f"the state says {e['spent']} spent, which the journal never had", e["t"])
    budget = rec.plan.budget
    if budget:
        for a, b in zip(rec.final["outcome"], rec.final["outcome"][1:]):
            if b["step"] not in compared:
                v.hold(a["spent"] < budget, f"step {b['step']} was begun with {a['spent']} of {budget} spent")
    return v


def expected_cost(rec, row, decision, x):
    cost = rec.plan.cost
    total = cost["per_step"] + cost["per_shot"] * rec.plan.shots + rec.plan.sets[decision["control_set"]][1]
    if row["shots"] < rec.plan.shots:
        total -= cost["per_shot"] * (rec.plan.shots - row["recorded"])
    if cost["formula"]:
        name, factor = cost["formula"]
        total += factor * (x[name] or 0.0) ** 2
    return total


def move_range(rec, x, step):
    """What moving may cost: from the setting before; where a step was given up or a session began in between, from anywhere."""
    low = high = 0.0
    for name, price in rec.plan.cost["per_move"].items():
        k = next(k for k in rec.plan.variables if k["name"] == name)
        here, there = x[step].get(name), x.get(step - 1, {}).get(name)
        outcomes = {r["step"]: r for r in rec.final["outcome"]}
        before = outcomes.get(step - 1)
        same = before and before["valid"] and before["session"] == outcomes[step]["session"]
        if here is None:
            continue
        if there is not None and same and not rec.faulty_step(step):
            exact = price * abs(here - there)
            low, high = low + exact - price * 2 * k["tolerance"], high + exact + price * 2 * k["tolerance"]
        else:
            high += price * (k["hard"][1] - k["hard"][0])
    return low, high


def refused(rec):
    """The names of the doses to which the device said no: nothing was given, and nothing needs to stay booked."""
    return {e["name"] for e in rec.of("dose-refused") if e["name"]}


def doses(rec):
    """A dose is sent once under a name of its own, never sooner than its interval, never beyond its budgets, never more than is on record."""
    v = Verdict()
    if not rec.plan.doses:
        return v
    names = set()
    for e in rec.of("dose"):
        if e["name"]:
            v.hold(e["name"] not in names, f"dose {e['name']} was sent twice", e["t"])
            names.add(e["name"])
    for k in [k for k in rec.plan.variables if k["dose"]]:
        given = list(rec.of("dose", ch=k["ch"]))
        total, no = 0.0, refused(rec)
        last = None
        for e in given:
            v.hold(last is None or e["t"] - last["t"] >= k["min_interval"] - 0.05 - rec.plan.tick, f"two doses on {k['ch']} within {e['t'] - (last or e)['t']:.3f} s, at least {k['min_interval']} s", e["t"])
            if e["name"] not in no:  # what the device refused has given nothing
                last = e
        for e in given:
            total += 0.0 if e["name"] in no else e["value"]
            budget = min(k["run"], k["hour"])
            v.hold(total <= budget + 1e-6, f"{total:.2f} given on {k['ch']}, the budget is {budget}", e["t"])
        if rec.final:
            booked = [x for x in intents_of(rec.final, rec.plan.driver["act"], k["ch"]) if x]
            v.hold(len(booked) >= len(given) or rec.gone, f"{len(given)} doses were sent on {k['ch']}, {len(booked)} are on record")
    return v


def dose_unknown(rec):
    """A dose without an answer holds the run: no other is given before someone has looked. What is booked is never less than what was given."""
    v = Verdict()
    if not rec.plan.doses:
        return v
    device = rec.plan.driver["act"]
    no = refused(rec)
    wait = {"exec": rec.plan.dose_timeout, "mqtt": rec.plan.confirm_timeout, "serial": rec.plan.reply_timeout}[device]
    for session in rec.sessions:
        given = [e for e in session.events if e["k"] == "dose"]
        for a, b in zip(given, given[1:]):
            if device == "mqtt":
                answered = [e["t"] for e in rec.of("told", since=a["t"], until=b["t"]) if answers(e, a)]
            else:
                answered = [e["until"] for e in rec.of("ask", since=a["asked"], until=a["asked"], dev=device) if e.get("until") and e["until"] <= b["t"]]
            known = answered and answered[0] - a["t"] <= wait + 0.3
            looked = any(e["k"] in ("order", "command") and e["command"] in ("resume", "reset") and a["t"] < e["t"] < b["t"] for e in session.events)
            v.hold(bool(known) or looked, f"after a dose on {a['ch']} without an answer the next one was given", b["t"])
        for e in [e for e in session.events if e["k"] == "state" and e.get("doses")]:
            for one in e["doses"]:
                k = next((k for k in rec.plan.variables if k["name"] == one["variable"]), None)
                sent = sum(d["value"] for d in rec.of("dose", until=e["t"] - 1.0) if k and d["ch"] == k["ch"] and d["name"] not in no)
                if k and one.get("total") is not None and not session.end or k and e["t"] < (session.end or 1e18):
                    v.hold(one["total"] >= sent - 0.011, f"{sent:.2f} were sent on {k['ch']}, and {one['total']} are booked", e["t"])
    return v


def dose_in_flight(rec):
    """After a kill within a dose the next run is refused until someone has said reset: no dose follows."""
    v = Verdict()
    device = rec.plan.driver["act"]
    for a, b in zip(rec.sessions, rec.sessions[1:]):
        sent = [e for e in a.events if e["k"] == "dose"]
        kill = next((e["t"] for e in a.events if e["k"] == "signal" and e["signal"] == "SIGKILL"), None)
        if a.code != -9 or not sent or kill is None:
            continue
        last = sent[-1]
        if any(e["k"] in ("order", "command") and e["command"] in ("resume", "reset") and last["t"] < e["t"] < kill for e in a.events):
            continue    # someone has looked
        if device == "mqtt":
            known = any(answers(e, last) for e in rec.of("told", since=last["t"], until=kill + 0.05))
        else:
            known = any(e.get("until") and e["until"] < kill + 0.05 for e in rec.of("ask", since=last["asked"], until=last["asked"], dev=device))
        if known:
            continue
        if any(e["code"] == 0 and e["args"][0] == "reset" for e in rec.of("cli", since=a.end, until=b.start)):
            continue
        later = [e for e in b.events if e["k"] in ("dose", "set")]
        v.hold(not later and b.code not in (0, 130), f"killed within a dose, and the next run drove without a reset (exit {b.code})", b.start)
    return v
