"""What the scripts beside this one share."""
import os
import socket
import sqlite3


def tell(path, command):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.sendall(command.encode() + b"\n")
        said = s.makefile().readline().strip()
    if not said.startswith("ok"):
        raise SystemExit(f"{command}: {said}")
    return said


def opened(path, synchronous):
    db = sqlite3.connect(path, isolation_level=None, timeout=60)
    mode = db.execute("PRAGMA journal_mode=WAL").fetchone()[0]
    if mode != "wal":
        raise SystemExit(f"journal mode {mode}")
    db.execute(f"PRAGMA synchronous={synchronous}")
    return db


def child(work):
    """Runs work(report) in a process that ends as if it had been killed, and returns the last report."""
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work(lambda n: os.write(w, n.to_bytes(4, "big")))
            code = 0
        finally:
            os._exit(code)
    os.close(w)
    with os.fdopen(r, "rb") as f:
        said = f.read()
    if os.waitpid(pid, 0)[1] != 0:
        raise SystemExit("the writer failed")
    return int.from_bytes(said[-4:], "big")


def kept(path):
    """How many rows there are, and whether the database is whole."""
    if not os.path.exists(path):
        return 0, "ok"
    db = sqlite3.connect(path, timeout=60)
    try:
        whole = db.execute("PRAGMA integrity_check").fetchone()[0]
        there = db.execute("SELECT count(*) FROM sqlite_master WHERE name='t'").fetchone()[0]
        rows = db.execute("SELECT count(*), coalesce(max(i), 0) FROM t").fetchone() if there else (0, 0)
        if rows[0] != rows[1]:
            whole = f"{rows[0]} rows up to {rows[1]}"
        return rows[0], whole
    except sqlite3.DatabaseError as e:
        return 0, str(e)
    finally:
        db.close()
