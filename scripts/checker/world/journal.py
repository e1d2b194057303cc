"""What the journal says, read by SQLite alone."""

import os
import shutil
import sqlite3
import tempfile

TABLES = ["run", "session", "control_set", "control_set_variable", "variable", "sensor", "decision", "decision_value", "reason", "action",
          "action_channel", "action_state", "action_readback", "shot", "shot_value", "shot_reading", "outcome", "outcome_value", "event",
          "result", "comparison", "comparison_value", "comparison_step", "comparison_result", "command", "command_answer"]


def snapshot(path):
    """Every row of every table, from a copy of the file and its log: nothing is changed by looking."""
    folder = tempfile.mkdtemp(prefix="checker-")
    try:
        for suffix in ("", "-wal"):
            if os.path.exists(str(path) + suffix):
                shutil.copyfile(str(path) + suffix, os.path.join(folder, "j.db" + suffix))
        if not os.path.exists(os.path.join(folder, "j.db")):
            return None
        db = sqlite3.connect(os.path.join(folder, "j.db"))
        db.row_factory = sqlite3.Row
        try:
            if db.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
                return {"error": "integrity_check fails"}
            return {t: [dict(r) for r in db.execute(f"SELECT * FROM {t}")] for t in TABLES}
        except sqlite3.Error as e:
            return {"error": str(e)}
        finally:
            db.close()
    finally:
        shutil.rmtree(folder)


class Live:
    """The journal of a run that goes on, as any reader would see it at this very moment."""

    def __init__(self, path):
        self.path, self.db, self.inode = path, None, None

    def _open(self):
        inode = os.stat(self.path).st_ino
        if self.db is None or inode != self.inode:
            self.close()
            self.db = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=0.05, check_same_thread=False)
            self.inode = inode

    def intents(self, device, ch, most=8):
        """The newest intents on record for a channel, newest first: [id, kind, value]; None where it cannot be read."""
        try:
            self._open()
            return self.db.execute("SELECT a.id, a.kind, c.value FROM action a JOIN action_channel c ON c.action = a.id "
                                   "WHERE a.device = ? AND c.channel = ? ORDER BY a.id DESC LIMIT ?", (device, ch, most)).fetchall()
        except (sqlite3.Error, OSError):
            self.close()
            return None

    def outcome(self, step):
        """Whether a step's outcome is on record; None where it cannot be read."""
        try:
            self._open()
            return self.db.execute("SELECT 1 FROM outcome WHERE step = ?", (step,)).fetchone() is not None
        except (sqlite3.Error, OSError):
            self.close()
            return None

    def close(self):
        if self.db:
            self.db.close()
        self.db = None
