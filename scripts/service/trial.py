#!/usr/bin/env python3
"""Tries the packaged service as an administrator and an operator would, on a bare Debian
machine and without systemd as process 1:

    scripts/service/trial.py --deb dist/tuner_VERSION_amd64.deb      (as root; installs it)
    scripts/service/trial.py --binary dist/tuner-linux-amd64         (installs nothing)

A broker with TLS, passwords and access rules; a simulated laser that is served over it; the
unit's own command line under a stand-in for systemd (standin.py); and a witness of its own
at the broker, which tells where the actuators really are. The tuner is stopped, killed,
aborted and stalled; its file is reloaded; every command is sent. Each time the actuators,
the journal, the status and what the service manager was told are looked at.

It waits for what it looks at, 90 s at most, and so takes any pace of the machine; --slow N
has all processes of the trial run N times slower. --only WORD tries those trials whose
name has the word. Needs Debian's mosquitto, mosquitto-clients and openssl.

Exit code 0: everything was as it should be.
"""

import argparse
import atexit
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import slowness
import standin
from place import KNOBS, TREE, Place, configuration
from witness import Witness, until

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = {"mosquitto": "mosquitto", "mosquitto_passwd": "mosquitto", "mosquitto_pub": "mosquitto-clients",
         "mosquitto_sub": "mosquitto-clients", "openssl": "openssl"}
BEGAN = time.monotonic()
FAILURES = []


def say(text):
    print(f"{time.monotonic() - BEGAN:7.2f}  {text}", flush=True)


class Failed(Exception):
    """What ends one of the trials, and lets the others go on."""


def check(holds, text):
    say(("ok      " if holds else "FAILED  ") + text)
    if not holds:
        raise Failed(text)


def kill(s):
    s.main.kill()


def abort(s):
    s.main.send_signal(signal.SIGABRT)


def stall(s):
    s.stalled = True
    slowness.settled()  # else whoever slows it down would let it go on
    s.main.send_signal(signal.SIGSTOP)


class Trial:
    def __init__(self, o):
        self.tuner = "/usr/bin/tuner" if o.deb else os.path.abspath(o.binary)
        self.place = Place()
        self.config = "/etc/tuner/trial.toml" if o.deb else self.place.path("trial.toml", "")
        unit = "/usr/lib/systemd/system/tuner@.service" if o.deb else os.path.join(HERE, "..", "systemd", "tuner@.service")
        self.state_root = "/var/lib" if o.deb else self.place.path("state")
        os.makedirs(self.state_root, exist_ok=True)
        with open(unit, encoding="utf-8") as f:
            text = f.read().replace("/usr/bin/tuner", self.tuner).replace("/etc/tuner/%i.toml", self.config)
        self.unit = self.place.path("unit", text.replace("/etc/tuner/credentials/%i", self.place.folder))
        self.soon = self.place.path("soon.conf", "[Service]\nRestartSec=1\n")
        self.watched = self.place.path("watched.conf", "[Service]\nWatchdogSec=6\nTimeoutAbortSec=1\n")
        self.place.path("mqtt-password", self.place.passwords["tuner"] + "\n", 0o600)
        self.text = configuration(self.place, "tuner", 'password_credential = "mqtt-password"')
        self.write(self.text)
        self.operator = self.place.operator()
        self.now, self.sent = None, 0
        if o.slow > 1:
            slowness.slow(o.slow, self.pids)
        self.place.plant(self.tuner)
        self.witness = Witness(self.place, KNOBS)
        served = until(lambda: all(self.witness.knob(k.channel) is not None for k in KNOBS))
        if not served:
            raise SystemExit("trial: error: nothing is heard of the plant:\n" + self.place.log("plant.log") + self.place.log("mosquitto.log"))
        say(f"the plant is served over TLS; the witness hears it: {self.witness.where()}")

    def pids(self):
        """The processes of the trial, but for a service that is held on purpose."""
        s = self.now
        return [p.pid for p in self.place.processes] + (s.children() if s and not s.stalled else [])

    def write(self, text):
        with open(self.config, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(self.config, 0o644)

    # --- the life of a service

    def service(self, *more):
        """A new instrument: what is latched and counted belongs to one."""
        shutil.rmtree(os.path.join(self.state_root, "tuner", "trial"), True)
        self.began = self.witness.mark()
        self.now = standin.Service([self.unit, self.soon, *more], "trial", self.state_root, say)
        self.now.start()
        return self.now

    def status(self, word, since):
        """Waits until the last status at the broker, said from a mark on, is this one."""
        def last():
            said = self.witness.said(TREE + "status", since)
            return bool(said) and json.loads(said[-1])["state"] == word
        check(until(last), f"status: {self.witness.last.get(TREE + 'status')}")

    def waits(self, s, since):
        """As the unit has it: the tuner reads, stays still and waits for resume."""
        s.wait("ready")
        still = self.witness.mark()
        self.status("online", since)
        check(until(lambda: len(self.witness.said(TREE + "telemetry", still)) >= 3) and until(lambda: "waiting for resume" in s.status),
              f"it reads and waits: {s.status}")
        check(self.witness.sets(still) == 0 and until(lambda: self.witness.safe(still)), f"and stays still: {self.witness.where()}")

    def tunes(self):
        """Has the tuner go on, and waits until actuators are away from safe."""
        since = self.witness.mark()
        answer = self.send("resume")
        check(answer is not None and answer["ok"] and until(lambda: self.witness.away(since)), f"resume: it tunes: {self.witness.where()}")

    def begin(self, name, *more):
        say(f"=== {name}")
        s = self.service(*more)
        self.waits(s, self.began)
        self.tunes()
        return s

    def ends(self, s, end, since):
        """What the manager saw and was told at a service's last end, the actuators, the journal."""
        s.gone()
        check(s.ends[-1] == end, f"ended: {s.ends[-1]}; {s.status}")
        check(until(lambda: self.witness.safe(since)), f"the actuators are safe: {self.witness.where()}")
        return self.journal(s)

    def journal(self, s):
        """What the journal says is whole, and can be derived anew; every command is in it."""
        db = os.path.join(s.state, "trial.db")
        done = subprocess.run([self.tuner, "replay", db], capture_output=True, text=True, check=False)
        lines = (done.stdout + done.stderr).strip().splitlines()
        check(done.returncode == 0 and any("to the last bit" in line for line in lines), f"the journal is whole: {lines[-1] if lines else ''}")
        with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as c:
            rows = c.execute("SELECT name, transport, code FROM command LEFT JOIN command_answer ON command = id ORDER BY id").fetchall()
        check(all(code for *_, code in rows), "its commands: " + ", ".join(f"{name} by {transport}: {code}" for name, transport, code in rows))
        return rows

    # --- commands

    def publish(self, user, topic, *payload):
        """Publishes and waits until the broker has taken it, or dropped it."""
        subprocess.run(self.place.client("mosquitto_pub", user, "-q", "1", "-t", topic, *payload), check=True, stderr=subprocess.DEVNULL)

    def put(self, command, user="operator", **more):
        """Publishes a command as any client could, and returns its transaction."""
        session = json.loads(self.witness.last[TREE + "status"])["session"]
        self.sent += 1
        content = {"transaction": f"{user}-{command}-{self.sent}", "session": session, "expires_ms": 90000, **more}
        self.publish(user, TREE + "cmd/" + command, "-m", json.dumps(content))
        return content["transaction"]

    def answers(self, command, transaction):
        found = [json.loads(p) for p in self.witness.said(TREE + "resp/" + command)]
        return [a for a in found if a.get("transaction") == transaction]

    def send(self, command, **more):
        """Sends a command and returns the answer, None where none came."""
        transaction = self.put(command, **more)
        until(lambda: self.answers(command, transaction))
        return (self.answers(command, transaction) or [None])[0]

    def by_hand(self, command):
        """The same by the tuner's own command line, from an operator's file."""
        p = subprocess.run([self.tuner, command, "--json", self.operator], capture_output=True, text=True, check=False)
        return {"ok": p.returncode == 0, "message": (p.stdout + p.stderr).strip()[:200]}

    def state(self):
        return json.loads(self.witness.last.get(TREE + "state", "{}")).get("state")

    def tried(self, command, answer, ok, state):
        good = answer is not None and answer.get("ok") is ok and until(lambda: state in (None, self.state()))
        shown = {k: v for k, v in (answer or {}).items() if k in ("ok", "code", "message")}
        check(good, f"{command}: {shown}; state {self.state()}")

    # --- the trials

    def reloaded_and_stopped(self):
        s = self.begin("systemctl reload (SIGHUP), then systemctl stop (SIGTERM)")
        self.write(self.text.replace("range = [60.0, 95.0]", "range = [60.0, 80.0]"))
        s.reload()
        check(until(lambda: any("reloaded: changed by" in t and "range = [60.0, 80.0]" in t for _, t in s.journal)), "a narrower range is taken over")
        self.write(self.text)
        s.reload()
        check(until(lambda: any("reloaded: changed by" in t and "range = [60.0, 95.0] (was" in t for _, t in s.journal)), "and the wider one again")
        self.write(re.sub(r"hard = \[.*?\]", "hard = [-1000.0, 1000.0]", self.text, count=1))
        s.reload()
        told = until(lambda: any(p == 3 and "is wider than" in t for p, t in s.journal))
        check(told and s.main.poll() is None, "wider hard limits are refused, and the run goes on")
        since = self.witness.mark()
        s.stop()
        self.ends(s, ("success", "exited", "130"), since)
        check("STOPPING=1" in s.heard and "at its safe value" in s.status and len(s.ends) == 1, "the manager was told")
        check(any("nothing to do" in t for _, t in s.journal), "make-safe left an orderly end alone")
        self.status("offline", since)

    def killed(self, name, end, result, *more):
        """One way to end: what the manager sees, where the actuators are, and that it comes back and waits."""
        s = self.begin(name, *more)
        since = self.witness.mark()
        end(s)
        event = s.wait("ended")
        s.stalled = False
        check(event[1] == result, f"the manager sees result {event[1]} ({event[2]}, {event[3]})")
        said = [t for _, t in s.journal if "at its safe value" in t]
        check(len(said) >= len(KNOBS), f"make-safe: {said[-1] if said else 'nothing'}")
        check(until(lambda: self.witness.safe(since)), f"the actuators are safe: {self.witness.where()}")
        lost = until(lambda: any(json.loads(p)["state"] == "lost" for p in self.witness.said(TREE + "status", since)))
        check(lost, "status: the broker has said that the tuner is lost")
        again = self.witness.mark()
        self.waits(s, since)
        check(s.starts == 2, "it was started again")
        s.stop()
        self.ends(s, ("success", "exited", "130"), again)

    def refused(self):
        say("=== a broken file")
        self.write(self.text + "\n[nonsense]\n")
        s = self.service()
        s.wait("dead")
        check(s.ends == [("exit-code", "exited", "3")] and s.starts == 1, f"exit code 3 is not tried again: {s.ends}")
        self.write(self.text)

    def commanded(self):
        say("=== every command, over TLS; a retained stop lies in wait")
        self.publish("operator", TREE + "cmd/stop", "-r", "-m", "now")
        s = self.service()
        self.waits(s, self.began)
        self.tried("status", self.send("status"), True, None)
        denied = self.put("resume", user="observer")
        self.tried("status", self.send("status"), True, "disarmed")
        check(not self.answers("resume", denied), "resume from an account without the right: the broker lets nothing through")
        self.tunes()
        self.tried("pause", self.send("pause"), True, "held")
        self.tried("resume", self.send("resume"), True, "running")
        self.tried("set-best", self.send("set-best", session="another"), False, None)
        self.publish("observer", "lab/bench/energy", "-m", '{"value": 19.9}')
        self.tried("status", self.send("status"), True, None)
        forged = [p for p in self.witness.said("lab/bench/energy") if json.loads(p)["value"] == 19.9]
        check(not forged, "a forged reading: the broker lets nothing through")
        self.tried("reset", self.send("reset"), True, "running")
        since = self.witness.mark()
        self.tried("set-best", self.send("set-best"), True, None)
        rows = self.ends(s, ("success", "exited", "0"), since)
        check(s.starts == 1, "and is not started again")
        with_code = {(name, code) for name, _, code in rows}
        # While the tuner is connected this would be a stop: its payload is empty.
        self.publish("operator", TREE + "cmd/stop", "-r", "-n")
        check(("stop", "retained") in with_code and ("set-best", "session") in with_code, "refusals are in the journal")
        self.status("offline", since)

    def latched(self):
        s = self.begin("the operator's commands by tuner itself; a stop, which latches")
        for command, state in (("status", None), ("pause", "held"), ("resume", "running")):
            self.tried(f"tuner {command}", self.by_hand(command), True, state)
        since = self.witness.mark()
        self.tried("tuner stop", self.by_hand("stop"), True, None)
        self.ends(s, ("exit-code", "exited", "4"), since)
        check(s.starts == 1, "and is not started again")
        env = {**os.environ, "STATE_DIRECTORY": s.state, "CREDENTIALS_DIRECTORY": self.place.folder}
        again = subprocess.run([self.tuner, "run", self.config], env=env, capture_output=True, text=True, check=False)
        check(again.returncode == 4 and "still latched" in again.stderr, f"nor by hand: {again.stderr.strip().splitlines()[-2:]}")
        cleared = subprocess.run([self.tuner, "reset", self.config], env=env, capture_output=True, text=True, check=False)
        check(cleared.returncode == 0 and "cleared" in cleared.stdout, f"tuner reset: {cleared.stdout.strip()}")
        self.status("offline", since)

    def run(self, only):
        trials = {
            "reload stop": self.reloaded_and_stopped,
            "kill": lambda: self.killed("kill -KILL", kill, "signal"),
            "abort": lambda: self.killed("kill -ABRT", abort, "exit-code"),
            "stall": lambda: self.killed("a stall: SIGSTOP, which only the watchdog notices", stall, "watchdog", self.watched),
            "broken": self.refused,
            "commands": self.commanded,
            "latched": self.latched,
        }
        for name, trial in trials.items():
            if only not in name:
                continue
            try:
                trial()
            except (Failed, SystemExit) as e:
                FAILURES.append(str(e))
                if self.now:
                    self.now.abandon()
                self.write(self.text)


def install(package, p):
    """Installs the package until the trial ends."""
    if os.geteuid() != 0:
        p.error("only root may install a package")
    if shutil.which("tuner", path="/usr/bin") or os.path.exists("/etc/tuner"):
        p.error("tuner is or was installed here: it might be in use; apt-get purge tuner, and move /etc/tuner away")
    subprocess.run(["dpkg", "-i", package], check=True)
    atexit.register(shutil.rmtree, "/etc/tuner", True)
    atexit.register(subprocess.run, ["dpkg", "--purge", "tuner"], check=False, stdout=subprocess.DEVNULL)
    atexit.register(shutil.rmtree, "/var/lib/tuner/trial", True)
    atexit.register(lambda: os.path.exists("/etc/tuner/trial.toml") and os.remove("/etc/tuner/trial.toml"))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = p.add_mutually_exclusive_group(required=True)
    what.add_argument("--deb", help="install this package and try what it brings")
    what.add_argument("--binary", help="try this program")
    p.add_argument("--slow", type=float, default=1, help="have the processes of the trial run so many times slower")
    p.add_argument("--only", default="", help="try those trials whose name has this word")
    o = p.parse_args()
    os.environ["PATH"] += ":/usr/sbin"  # Debian keeps daemons out of a user's path
    missing = {package for tool, package in TOOLS.items() if not shutil.which(tool)}
    if missing:
        p.error("it needs programs that are not here: apt-get install " + " ".join(sorted(missing)))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("trial: ended by SIGTERM"))  # so that nothing is left behind
    if o.deb:
        install(o.deb, p)
    Trial(o).run(o.only)
    print(f"{len(FAILURES)} failed" if FAILURES else "all was as it should be")
    for f in FAILURES:
        print("  " + f)
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
