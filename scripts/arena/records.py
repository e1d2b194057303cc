"""The file of results: one line of JSON a run. What is in it is not run again. It may be read as .gz."""

import gzip
import json
import os


def key(row):
    """What makes a run the same run."""
    return row["problem"], row["peer"], row["seed"], row["steps"]


class BadRecord(ValueError):
    """A line that is no result; says where it stands and what to do."""


def read(path):
    """The rows of a file by key; of two of one key the later. A last line that was cut by a kill is left out."""
    rows = {}
    if not os.path.exists(path):
        return rows
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as f:
        lines = f.read().split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            rows[key(row)] = row
        except (ValueError, KeyError, TypeError) as trouble:
            if number == len(lines):
                continue
            raise BadRecord(f"{path}:{number}: no result of the arena ({trouble!r}); take the line out, and its run is made again") from None
    return rows


def mend(path):
    """Take away a last line without its end, so that the next row begins on a line of its own."""
    if not os.path.exists(path):
        return
    with open(path, "rb+") as f:
        whole = f.read()
        if whole and not whole.endswith(b"\n"):
            f.truncate(whole.rfind(b"\n") + 1)


def append(path, row):
    """One write for one line, on disk before it counts."""
    with open(path, "a", encoding="utf-8") as f:
        f.write(json.dumps(row, allow_nan=False) + "\n")
        f.flush()
        os.fsync(f.fileno())


def left(tasks, rows):
    """The tasks that are still to be run. A peer whose package was missing is tried again: it may be there now."""
    return [t for t in tasks if rows.get(t, {}).get("status", "missing") == "missing"]


def shard(tasks, text):
    """Every n-th task from the i-th on, of "i/n"; i counts from 0."""
    try:
        i, n = map(int, text.split("/"))
    except ValueError:
        raise ValueError(f"--shard {text}: write i/n, such as 0/4") from None
    if not 0 <= i < n:
        raise ValueError(f"--shard {text}: i counts from 0 to n-1; write 0/{max(n, 1)} to {max(n, 1) - 1}/{max(n, 1)}")
    return tasks[i::n]
