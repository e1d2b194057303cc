"""Reads the steps of a run for analysis: from its journal, or from an exported table.

    import read_run
    run = read_run.read("laser.db")        # or "laser.csv", with laser.units.json beside it
    run.units["x_current"]                 # "A"
    good = [s for s in run.steps if s["valid"] and not s["verified"]]
    frame = run.frame()                    # a pandas DataFrame; frame.attrs["units"]
    shots = read_run.read("laser.db", "shots")

    python3 read_run.py laser.db           # a summary; --json: everything

Nothing beside Python's standard library is needed, but for frame(). A journal may be read
while a run is writing it; tuner export also checks every row's checksum, which this does
not. Columns are those of tuner export --format csv (with --shots those of the shots); None
is no data. Of a journal, elapsed_s is left out.
"""

import argparse
import csv
import json
import math
import os
import sqlite3
import sys


class Run:
    """The rows of a run: steps is a list of dictionaries, units has a unit for each column
    ("" where there is none)."""

    def __init__(self, name, steps, units):
        self.name, self.steps, self.units = name, steps, units

    def frame(self):
        """The rows as a pandas DataFrame."""
        import pandas

        frame = pandas.DataFrame(self.steps, columns=list(self.units))
        if "time" in frame:
            frame["time"] = pandas.to_datetime(frame["time"], utc=True, format="ISO8601")
        frame.attrs.update(name=self.name, units=self.units)
        return frame


def read(path, what="steps"):
    """Reads a journal (.db) or an exported table (.csv); what is "steps" or "shots", of a
    table what it holds."""
    if what not in ("steps", "shots"):
        raise ValueError("what is %r; choose steps or shots" % what)
    if not os.path.exists(path):
        raise FileNotFoundError(path)
    if path.endswith(".csv"):
        return _read_csv(path)
    with_journal = {"steps": _read_steps, "shots": _read_shots}[what]
    db = sqlite3.connect("file:%s?mode=ro" % path.replace("%", "%25").replace("?", "%3f").replace("#", "%23"), uri=True)
    try:
        db.execute("BEGIN")  # several tables are read: all as they were at one moment
        return with_journal(db)
    finally:
        db.close()


# What a column's name begins with where it is of a variable.
_OF_VARIABLES = ("requested_", "applied_", "x_")


def _squared(unit):
    if unit in ("", "1"):
        return unit
    return "(%s)^2" % unit if any(c in unit for c in " */^") else unit + "^2"


def _head(db):
    name, objective, cost = db.execute("SELECT name, objective_unit, cost_unit FROM run").fetchone()
    variables = dict(db.execute("SELECT name, unit FROM variable ORDER BY n"))
    return name, objective, cost, variables


def _read_steps(db):
    name, objective, cost, variables = _head(db)
    cursor = db.execute("SELECT * FROM steps ORDER BY n")
    columns = [column[0] for column in cursor.description]
    known = {"mean": objective, "standard_error": objective, "variance": _squared(objective), "cost": cost,
             "spent": cost, "n": "1", "shots": "1", "work": "1", "decision_ms": "ms"}
    units = {}
    for column in columns:
        of = next((column[len(p):] for p in _OF_VARIABLES if column.startswith(p)), None)
        units[column] = variables.get(of, known.get(column, ""))
    rows = [dict(zip(columns, row)) for row in cursor]
    for row in rows:
        row["valid"] = bool(row["valid"])
        for column in ("control_set", "clamped", "problem", "verified"):
            row[column] = row.get(column) or ""  # a journal of version 1 has no verified
    units.setdefault("verified", "")
    return Run(name, rows, units)


def _read_shots(db):
    name, objective, _, variables = _head(db)
    sensors = dict(db.execute("SELECT name, unit FROM sensor ORDER BY n"))
    units = {"n": "1", "shot": "1", "objective": objective}
    units.update(("x_" + v, unit) for v, unit in variables.items())
    for sensor, unit in sensors.items():
        units.update({"sensor_" + sensor: unit, "quality_" + sensor: ""})
    rows = {}
    for n, shot, y in db.execute("SELECT step, n, objective FROM shot ORDER BY step, n"):
        rows[n, shot] = {"n": n, "shot": shot, "objective": y}
    names = list(variables)
    for n, shot, i, x in db.execute("SELECT step, shot, variable, x FROM shot_value ORDER BY step, shot, variable"):
        rows[n, shot]["x_" + names[i]] = x
    names = list(sensors)
    for n, shot, i, y, quality in db.execute(
            "SELECT step, shot, sensor, value, quality FROM shot_reading ORDER BY step, shot, sensor"):
        rows[n, shot]["sensor_" + names[i]] = y
        rows[n, shot]["quality_" + names[i]] = quality or ""
    return Run(name, list(rows.values()), units)


def _read_csv(path):
    name, units = os.path.splitext(os.path.basename(path))[0], {}
    try:
        with open(os.path.splitext(path)[0] + ".units.json", encoding="utf-8") as f:
            document = json.load(f)
            name = document["name"]
            units = {c["name"]: c["unit"] for c in document["columns"]}
    except FileNotFoundError:
        pass
    texts = ("control_set", "clamped", "problem", "time", "verified", "by", "struck", "reason")
    with open(path, newline="", encoding="utf-8") as f:
        rows = []
        for row in csv.DictReader(f):
            for column, cell in row.items():
                if column in ("valid", "cut"):
                    row[column] = cell == "true"
                elif column in ("n", "shots", "work", "shot"):
                    row[column] = int(cell)
                elif column not in texts and not column.startswith("quality_"):
                    row[column] = float(cell) if cell else None
            rows.append(row)
        columns = rows[0].keys() if rows else units
    return Run(name, rows, {c: units.get(c, "") for c in columns})


def _summary(run):
    searched = [s for s in run.steps if not s.get("verified")]
    valid = [s for s in searched if s.get("valid", True)]
    print("%s: %d rows, %d of the search, %d of these valid" % (run.name, len(run.steps), len(searched), len(valid)))
    for column, unit in run.units.items():
        values = [s[column] for s in valid if isinstance(s.get(column), (int, float)) and not isinstance(s[column], bool)]
        if values:
            print("  %-24s %12.6g to %-12.6g %s" % (column, min(values), max(values), unit))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Reads the steps of a run.")
    parser.add_argument("file", help="a journal (.db) or an exported table (.csv)")
    parser.add_argument("what", nargs="?", default="steps", choices=["steps", "shots"])
    parser.add_argument("--json", action="store_true", help="print units and rows as one document")
    args = parser.parse_args()
    result = read(args.file, args.what)
    if args.json:
        finite = [{c: None if isinstance(v, float) and not math.isfinite(v) else v for c, v in s.items()} for s in result.steps]
        json.dump({"name": result.name, "units": result.units, "steps": finite}, sys.stdout)
        print()
    else:
        _summary(result)
