"""powercuts.py MOUNT SOCKET SYNCHRONOUS FROM COUNT: one power cut a seed, with a
writer killed in the middle; the same database all along, anew every 20 seeds."""
import os
import random
import sys

from rig import child, kept, opened, tell

mount, control, synchronous, first, count = sys.argv[1:]
damaged = lost = total = 0
for seed in range(int(first), int(first) + int(count)):
    path = f"{mount}/x{seed // 20}.db"
    chance = random.Random(seed)

    def work(report):
        db = opened(path, synchronous)
        db.execute(f"PRAGMA wal_autocheckpoint={chance.choice([1, 5, 50, 1000])}")
        db.execute("PRAGMA journal_size_limit=20000")
        db.execute("CREATE TABLE IF NOT EXISTS t (i INTEGER PRIMARY KEY, b BLOB)")
        for _ in range(chance.randrange(1, 25)):
            db.execute("BEGIN IMMEDIATE")
            for _ in range(chance.randrange(1, 6)):
                db.execute("INSERT INTO t (b) VALUES (randomblob(?))", (chance.randrange(1, 6000),))
            last = db.execute("SELECT max(i) FROM t").fetchone()[0]
            db.execute("COMMIT")
            report(last)
        if chance.random() < 0.5:  # in the middle of a transaction, some of it spilt
            db.execute("PRAGMA cache_size=1")
            db.execute("BEGIN")
            for _ in range(30):
                db.execute("UPDATE t SET b=randomblob(2000) WHERE i % 3 = 0")
            if chance.random() < 0.5:
                os._exit(0)

    acknowledged = child(work)
    said = tell(control, f"crash {seed}")
    rows, whole = kept(path)
    total += acknowledged
    if whole != "ok":
        damaged += 1
        os.remove(path)  # the seeds after it begin anew
    if rows < acknowledged:
        lost += 1
    if synchronous == "FULL" and (whole != "ok" or rows < acknowledged):
        print(f"seed {seed}: acknowledged {acknowledged}, kept {rows}, integrity {whole}: {said}")
print(f"{count} seeds, {total} rows acknowledged, {damaged} damaged, {lost} with commits lost")
