"""share.py MOUNT SOCKET: four processes write to one database at a time."""
import os
import sys

from rig import kept, opened

path = sys.argv[1] + "/x.db"
opened(path, "FULL").execute("CREATE TABLE t (i INTEGER PRIMARY KEY, who INTEGER)")
children = []
for who in range(4):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            db = opened(path, "NORMAL")
            for _ in range(100):
                db.execute("INSERT INTO t (who) VALUES (?)", (who,))
                db.execute("SELECT count(*) FROM t").fetchone()
            code = 0
        finally:
            os._exit(code)
    children.append(pid)
if any([os.waitpid(pid, 0)[1] for pid in children]):
    raise SystemExit("a writer failed")
rows, whole = kept(path)
print(f"{rows} rows of 4 writers, integrity {whole}")
