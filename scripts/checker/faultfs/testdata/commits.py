"""commits.py MOUNT SOCKET SYNCHRONOUS COUNT: commits, cuts the power, counts."""
import sys

from rig import child, kept, opened, tell

mount, control, synchronous, count = sys.argv[1:]
path = mount + "/x.db"


def work(report):
    db = opened(path, synchronous)
    db.execute("CREATE TABLE t (i INTEGER PRIMARY KEY, b BLOB)")
    for i in range(int(count)):
        db.execute("INSERT INTO t (b) VALUES (randomblob(300))")
        report(i + 1)


acknowledged = child(work)
tell(control, "crash")
rows, whole = kept(path)
print(f"acknowledged {acknowledged}, kept {rows}, integrity {whole}")
