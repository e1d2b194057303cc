"""Reads a journal and its exports by other people's tools, and compares what they give.

    tuner export RUN.db -o FOLDER/steps.csv          FOLDER also has the journal as run.db,
    tuner export RUN.db --shots -o FOLDER/shots.csv  with its run.db-wal where there is one
    tuner export RUN.db --format parquet -o FOLDER/steps.parquet
    tuner export RUN.db --format parquet --shots -o FOLDER/shots.parquet
    tuner export RUN.db --format jsonl -o FOLDER/steps.jsonl
    tuner export RUN.db --format bluesky -o FOLDER/bluesky.jsonl
    python3 scripts/check_readers.py FOLDER

What Python's own sqlite3 reads of the view steps is what the others must give, to the last
bit, but for DuckDB's reading of the view, which it takes for texts of 15 digits. Each tool is a line of the output; one that is not installed says NOT RUN. They are
pip install pandas pyarrow polars xarray event-model duckdb duckdb-extensions duckdb-extension-sqlite-scanner;
the last two bring what DuckDB would fetch by itself to open SQLite files, pyarrow is what pandas
reads Parquet by.
"""

import json
import math
import os
import sqlite3
import sys

import read_run


def same(what, got, want, within=0.0):
    """Both as lists of floats or None; None and NaN are no data."""
    got, want = ([None if v is None or math.isnan(v) else float(v) for v in values] for values in (got, want))
    alike = len(got) == len(want) and all(
        g == w or None not in (g, w) and abs(g - w) <= within * abs(w) for g, w in zip(got, want))
    if not alike:
        raise SystemExit("%s differs: %r, and sqlite3 gives %r" % (what, got, want))


def column(folder, name, table="steps"):
    db = sqlite3.connect("file:%s?mode=ro" % os.path.join(folder, "run.db"), uri=True)
    try:
        return [row[0] for row in db.execute("SELECT %s FROM %s" % (name, table))]
    finally:
        db.close()


def check_pandas(folder, means):
    import pandas

    db = sqlite3.connect("file:%s?mode=ro" % os.path.join(folder, "run.db"), uri=True)
    table = pandas.read_sql("SELECT * FROM steps ORDER BY n", db)
    db.close()
    same("the view in pandas", pandas.to_numeric(table["mean"]), means)
    exact = {} if int(pandas.__version__.split(".")[0]) >= 3 else {"float_precision": "round_trip"}
    steps = pandas.read_csv(os.path.join(folder, "steps.csv"), **exact)
    same("steps.csv in pandas", steps["mean"].astype(float), means)
    shots = pandas.read_csv(os.path.join(folder, "shots.csv"), **exact)
    same("shots.csv in pandas", shots["objective"].astype(float), column(folder, "objective", "shot ORDER BY step, n"))
    lines = pandas.read_json(os.path.join(folder, "steps.jsonl"), lines=True, precise_float=True)
    concluded = lines[lines["type"].isin(["step", "verify"])] if len(lines) else lines
    if len(concluded):
        by_step = dict(zip(column(folder, "n"), means))
        want = [by_step[n] for n in concluded["n"]]
        same("steps.jsonl in pandas", concluded["mean"], want, within=1e-12)
    frame = read_run.read(os.path.join(folder, "run.db")).frame()
    same("the frame of read_run.py", frame["mean"].astype(float), means)
    return pandas.__version__, "%d steps and %d shots agree" % (len(steps), len(shots))


def check_duckdb(folder, means):
    import duckdb

    steps = os.path.join(folder, "steps.csv")
    rows = duckdb.connect().execute("SELECT TRY_CAST(mean AS DOUBLE) FROM read_csv(?, all_varchar = true) ORDER BY n::BIGINT", [steps]).fetchall()
    same("steps.csv in DuckDB", [row[0] for row in rows], means)
    return duckdb.__version__, "%d steps of the table agree" % len(rows)


def check_duckdb_journal(folder, means):
    import duckdb
    from duckdb_extensions import import_extension

    import_extension("sqlite_scanner")
    db = duckdb.connect()
    db.execute("LOAD sqlite_scanner")
    db.execute("ATTACH '%s' AS run (TYPE sqlite, READ_ONLY)" % os.path.join(folder, "run.db").replace("'", "''"))
    # DuckDB takes the columns of a view for texts, whatever they are; those of a table not.
    rows = db.execute("SELECT mean::DOUBLE FROM run.steps ORDER BY n::BIGINT").fetchall()
    same("the journal in DuckDB", [row[0] for row in rows], means, within=1e-14)
    outcomes = db.execute("SELECT mean FROM run.outcome ORDER BY step").fetchall()
    same("the table outcome in DuckDB", [row[0] for row in outcomes], column(folder, "mean", "outcome ORDER BY step"))
    return duckdb.__version__, "%d steps of the journal agree" % len(rows)


def check_pandas_parquet(folder, means):
    import pandas
    import pyarrow  # noqa: F401 pandas asks for it by another error

    steps = pandas.read_parquet(os.path.join(folder, "steps.parquet"))
    same("steps.parquet in pandas", steps["mean"], means)
    shots = pandas.read_parquet(os.path.join(folder, "shots.parquet"))
    same("shots.parquet in pandas", shots["objective"], column(folder, "objective", "shot ORDER BY step, n"))
    return pandas.__version__, "%d steps and %d shots of Parquet agree" % (len(steps), len(shots))


def check_polars(folder, means):
    import polars

    steps = polars.read_parquet(os.path.join(folder, "steps.parquet"))
    same("steps.parquet in polars", steps["mean"].to_list(), means)
    shots = polars.read_parquet(os.path.join(folder, "shots.parquet"))
    same("shots.parquet in polars", shots["objective"].to_list(), column(folder, "objective", "shot ORDER BY step, n"))
    import duckdb

    rows = duckdb.connect().execute("SELECT mean FROM read_parquet(?) ORDER BY n", [os.path.join(folder, "steps.parquet")]).fetchall()
    same("steps.parquet in DuckDB", [row[0] for row in rows], means)
    return polars.__version__, "with DuckDB %s: %d steps and %d shots of Parquet agree" % (duckdb.__version__, len(steps), len(shots))


def check_xarray(folder, means):
    import xarray

    import shots_xarray

    data = shots_xarray.read(os.path.join(folder, "shots.parquet"))
    want = [v for v in column(folder, "objective", "shot ORDER BY step, n") if v is not None]
    got = [float(v) for v in data["objective"].values.ravel() if v == v]
    same("shots_xarray.py", got, want)
    if data["objective"].attrs.get("unit") is None:
        raise SystemExit("shots_xarray.py: the objective has no unit")
    return xarray.__version__, "%d shots agree" % len(got)


def check_event_model(folder, means):
    import event_model

    import check_bluesky

    with open(os.path.join(folder, "bluesky.jsonl"), encoding="utf-8") as f:
        counts, _ = check_bluesky.check(f)
    with open(os.path.join(folder, "bluesky.jsonl"), encoding="utf-8") as f:
        events = sum(json.loads(line)["name"] == "event" for line in f)
    if events != sum(counts.values()):
        raise SystemExit("%d events, counted are %r" % (events, counts))
    return event_model.__version__, "%d events pass the schemas" % events


if __name__ == "__main__":
    want = column(sys.argv[1], "mean", "steps ORDER BY n")
    print("sqlite3 %s: %d steps" % (sqlite3.sqlite_version, len(want)))
    for tool, check in (("pandas", check_pandas), ("pandas, Parquet", check_pandas_parquet), ("polars", check_polars), ("xarray", check_xarray), ("DuckDB, tables", check_duckdb), ("DuckDB, journals", check_duckdb_journal),
                        ("event-model", check_event_model)):
        try:
            print("%s %s: %s" % (tool, *check(sys.argv[1], want)))
        except ModuleNotFoundError as e:
            print("%s: NOT RUN: there is no %s here" % (tool, e.name))
