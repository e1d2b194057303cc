"""Reads a journal with nothing but Python's standard library.

It recomputes the checksum of every row from the package comment alone, and
prints the view steps as CSV for comparison with the export.

    python3 read.py JOURNAL
"""

import csv
import sqlite3
import struct
import sys


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def canonical(value):
    if value is None:
        return b"\0"
    if isinstance(value, int):
        return b"\1" + struct.pack(">q", value)
    if isinstance(value, float):
        return b"\2" + struct.pack(">d", value)
    if isinstance(value, str):
        data = value.encode()
        return b"\3" + struct.pack(">Q", len(data)) + data
    return b"\4" + struct.pack(">Q", len(value)) + value


db = sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True)
salt = b""  # from version 4 on, a checksum begins with the run's id
if db.execute("PRAGMA user_version").fetchone()[0] >= 4:
    salt = canonical(db.execute("SELECT uid FROM run").fetchone()[0])
tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]
rows = 0
for table in tables:
    for row in db.execute("SELECT * FROM %s" % table):
        rows += 1
        crc = crc32c(salt + canonical(table) + b"".join(canonical(value) for value in row[:-1]))
        if crc != row[-1]:
            sys.exit("table %s, row %r: checksum is %08x, its values give %08x" % (table, row, row[-1], crc))
print("checked %d rows of %d tables" % (rows, len(tables)), file=sys.stderr)

cursor = db.execute("SELECT * FROM steps ORDER BY n")
out = csv.writer(sys.stdout, lineterminator="\n")
out.writerow(column[0] for column in cursor.description)
out.writerows(cursor)
