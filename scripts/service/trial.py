#!/usr/bin/env python3
"""Tries the packaged service as an administrator and an operator would, on a bare Debian
machine and without systemd as process 1:

    scripts/service/trial.py --deb dist/tuner_VERSION_amd64.deb      (as root; installs it)
    scripts/service/trial.py --binary dist/tuner-linux-amd64         (installs nothing)

A broker with TLS, passwords and the sample's access rules; a simulated laser that is
served over it; the unit's own command line under a stand-in for systemd (standin.py); and
a witness of its own at the broker, which tells where the actuators really are. The tuner
is stopped, killed, aborted and stalled; its file is reloaded; every command is sent. Each
time the actuators, the journal and what the service manager was told are looked at.

Exit code 0: everything was as it should be.
"""

import argparse
import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import standin

HERE = os.path.dirname(os.path.abspath(__file__))
KNOBS = [("mirror_x", "mrad", "mx", -2.0, 2.0, 0.0, 1.0), ("mirror_y", "mrad", "my", -2.0, 2.0, 0.0, 1.0),
         ("grating", "mm", "gr", 10.0, 14.0, 12.0, 2.0), ("pump_current", "A", "pump", 60.0, 95.0, 60.0, 20.0)]
TREE = "tuner/bench/trial/"
BEGAN = time.monotonic()
FAILURES = []


def say(text):
    print(f"{time.monotonic() - BEGAN:7.2f}  {text}", flush=True)


def check(holds, text):
    say(("ok      " if holds else "FAILED  ") + text)
    if not holds:
        FAILURES.append(text)


def configuration(place, user, steps=100000):
    """The tuner's file and the plant's, which differ in who they are at the broker."""
    out = [f'''schema = 1
name = "trial"
site = "bench"
tick = "50ms"

[plant]
kind = "laser"

[objective]
sensor = "pulse_energy"
shots = 3

[[sensor]]
name = "pulse_energy"
unit = "mJ"
device = "bench"
channel = "energy"
range = [0.0, 20.0]
max_age = "2s"

[policy]
kind = "random"

[stop]
steps = {steps}

[mqtt]
broker = "tls://localhost:{place.port}"
commands = true
ca_file = "{place.folder}/ca.pem"
username = "{user}"
password_credential = "mqtt-password"

[[device]]
name = "bench"
driver = "mqtt"
broker = "tls://localhost:{place.port}"
ca_file = "{place.folder}/ca.pem"
username = "{user}"
password_credential = "mqtt-password"
[device.channel.energy]
read = {{ topic = "lab/bench/energy", path = "value" }}
''']
    for name, unit, channel, low, high, safe, slew in KNOBS:
        out.append(f'''
[device.channel.{channel}]
read = {{ topic = "lab/bench/{channel}", path = "value" }}
write = {{ topic = "lab/bench/{channel}/set", ttl = "5s" }}
[[variable]]
name = "{name}"
unit = "{unit}"
range = [{low}, {high}]
device = "bench"
channel = "{channel}"
readback = {{ tolerance = 0.2, timeout = "10s" }}
[safety.variable.{name}]
hard = [{low - 0.5}, {high + 0.5}]
slew = {slew * 4}
safe = {safe}
on_fault = "safe"
shutdown = "safe"
''')
    return "".join(out)


class Place:
    """A folder with keys and certificates, and a broker that uses them."""

    def __init__(self, port):
        self.port, self.folder = port, tempfile.mkdtemp(prefix="tuner-trial-")
        os.chmod(self.folder, 0o755)
        atexit.register(shutil.rmtree, self.folder, True)
        self.passwords = {u: os.urandom(12).hex() for u in ("tuner", "plant", "operator", "observer", "witness")}
        self.keys()
        self.rules()

    def path(self, name, text=None, mode=0o644):
        full = os.path.join(self.folder, name)
        if text is not None:
            with open(full, "w", encoding="utf-8") as f:
                f.write(text)
            os.chmod(full, mode)
        return full

    def keys(self):
        def openssl(*args):
            subprocess.run(["openssl", *args], check=True, capture_output=True, cwd=self.folder)
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=trial",
                "-addext", "basicConstraints=critical,CA:TRUE")
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "broker.key", "-out", "broker.csr", "-subj", "/CN=localhost")
        self.path("san", "subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        openssl("x509", "-req", "-in", "broker.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", "broker.pem", "-days", "2",
                "-extfile", "san")

    def rules(self):
        """Who may say and hear what: only the plant says what is measured, only the tuner sets
        and says how it stands, only the operator commands."""
        self.path("acl", """user tuner
topic read lab/bench/+
topic write lab/bench/+/set
topic readwrite tuner/bench/trial/#
topic deny tuner/bench/trial/cmd/+
topic read tuner/bench/trial/cmd/+
user plant
topic write lab/bench/+
topic read lab/bench/+/set
user operator
topic read tuner/#
topic write tuner/bench/trial/cmd/+
user observer
topic read tuner/#
user witness
topic read #
""".replace("topic readwrite tuner/bench/trial/#\ntopic deny tuner/bench/trial/cmd/+\n", "".join(
            f"topic write tuner/bench/trial/{t}\n" for t in ("status", "state", "telemetry", "event", "resp/+"))))
        passwords = self.path("passwords", "", 0o600)
        for user, password in self.passwords.items():
            subprocess.run(["mosquitto_passwd", "-b", passwords, user, password], check=True, capture_output=True)
        os.chmod(passwords, 0o644)
        os.chmod(self.path("broker.key"), 0o644)
        self.path("mosquitto.conf", f"""listener {self.port} 127.0.0.1
cafile {self.folder}/ca.pem
certfile {self.folder}/broker.pem
keyfile {self.folder}/broker.key
allow_anonymous false
password_file {passwords}
acl_file {self.folder}/acl
""")

    def broker(self):
        path = os.environ["PATH"] + ":/usr/sbin"
        p = subprocess.Popen([shutil.which("mosquitto", path=path), "-c", self.path("mosquitto.conf")], stdout=subprocess.DEVNULL,
                             stderr=open(self.path("mosquitto.log"), "w", encoding="utf-8"))
        atexit.register(p.kill)
        time.sleep(0.5)

    def client(self, program, user, *args):
        return [program, "-h", "localhost", "-p", str(self.port), "--cafile", self.path("ca.pem"), "-u", user, "-P", self.passwords[user], *args]


class Witness:
    """Hears everything at the broker, on its own account."""

    def __init__(self, place):
        self.last, self.all = {}, []
        self.process = subprocess.Popen(place.client("mosquitto_sub", "witness", "-v", "-t", "#"), stdout=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            topic, _, payload = line.rstrip("\n").partition(" ")
            self.last[topic] = payload
            self.all.append((time.monotonic(), topic, payload))

    def knob(self, channel):
        text = self.last.get(f"lab/bench/{channel}")
        return None if text is None else float(json.loads(text)["value"])

    def safe(self):
        return all(self.knob(c) is not None and abs(self.knob(c) - safe) < 0.05 for _, _, c, _, _, safe, _ in KNOBS)

    def where(self):
        return ", ".join(f"{c} {self.knob(c):.3g}" for _, _, c, *_ in KNOBS if self.knob(c) is not None)

    def wait(self, holds, limit=20.0):
        end = time.monotonic() + limit
        while time.monotonic() < end:
            if holds():
                return True
            time.sleep(0.05)
        return False


class Trial:
    def __init__(self, o):
        self.tuner = "/usr/bin/tuner" if o.deb else os.path.abspath(o.binary)
        self.place = Place(o.port)
        self.config = "/etc/tuner/trial.toml" if o.deb else self.place.path("trial.toml", "")
        unit = "/usr/lib/systemd/system/tuner@.service" if o.deb else os.path.join(HERE, "..", "systemd", "tuner@.service")
        self.state_root = "/var/lib" if o.deb else self.place.path("state")
        os.makedirs(self.state_root, exist_ok=True)
        with open(unit, encoding="utf-8") as f:
            text = f.read().replace("/usr/bin/tuner", self.tuner).replace("/etc/tuner/%i.toml", self.config)
        self.unit = self.place.path("unit", text.replace("/etc/tuner/credentials/%i", self.place.folder))
        self.quick = self.place.path("quick.conf", "[Service]\nWatchdogSec=2\nTimeoutAbortSec=3\nRestartSec=5\n")
        self.running = self.place.path("running.conf", f"[Service]\nExecStart=\nExecStart={self.tuner} run --resume run {self.config}\n")
        self.place.path("mqtt-password", self.place.passwords["tuner"] + "\n", 0o600)

    def write(self, text):
        with open(self.config, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(self.config, 0o644)

    def begin(self):
        self.place.broker()
        self.text = configuration(self.place, "tuner")
        self.write(self.text)
        plant = self.place.path("plant.toml", configuration(self.place, "plant"))
        os.mkdir(self.place.path("plant"), 0o700)
        self.place.path("plant/mqtt-password", self.place.passwords["plant"] + "\n", 0o600)
        p = subprocess.Popen([self.tuner, "plant", plant], env={**os.environ, "CREDENTIALS_DIRECTORY": self.place.path("plant")}, stderr=open(self.place.path("plant.log"), "w", encoding="utf-8"))
        atexit.register(p.kill)
        self.witness = Witness(self.place)
        check(self.witness.wait(lambda: self.witness.knob("pump") is not None), "the plant is served over TLS; the witness hears it")

    def service(self, *more):
        # Each trial is a new instrument: what is latched and counted belongs to one.
        shutil.rmtree(os.path.join(self.state_root, "tuner", "trial"), True)
        self.since = len(self.witness.all)
        s = standin.Service([self.unit, self.quick, *more], "trial", self.state_root, say)
        s.start()
        return s

    def moves(self):
        """Waits until the tuner has set something, and the actuators are away from safe."""
        def moved():
            return any(t.endswith("/set") for _, t, _ in self.witness.all[self.since:]) and not self.witness.safe()
        return self.witness.wait(moved, 40)

    def journal(self, service):
        """What the journal says is whole, and can be derived anew."""
        db = os.path.join(service.state, "trial.db")
        done = subprocess.run([self.tuner, "replay", db], capture_output=True, text=True, check=False)
        last = (done.stdout + done.stderr).strip().splitlines()
        check(done.returncode == 0 and any("to the last bit" in line for line in last), f"the journal is whole: {last[-1] if last else ''}")

    def killed(self, name, kill, result):
        """One way to end: what the manager sees, where the actuators are, and that it comes back."""
        say(f"=== {name}")
        s = self.service(self.running)
        s.wait("ready")
        check(self.moves(), f"it tunes: {self.witness.where()}; {s.status}")
        kill(s)
        event = s.wait("ended", 30)
        check(event[1] == result, f"the manager sees result {event[1]} ({event[2]}, {event[3]})")
        check(self.witness.wait(self.witness.safe), f"the actuators are safe: {self.witness.where()}")
        said = [t for _, t in s.journal if "at its safe value" in t]
        check(len(said) >= len(KNOBS), f"and it is said: {said[-1] if said else 'nothing'}")
        s.wait("ready", 60)
        check(s.starts == 2, "it is started again")
        s.stop()
        check(s.ends[-1] == ("success", "exited", "130"), f"and stopped: {s.ends[-1]}")
        self.journal(s)

    def stopped(self):
        say("=== systemctl stop (SIGTERM)")
        s = self.service(self.running)
        s.wait("ready")
        check("READY=1" in s.heard and self.moves(), f"ready, and it tunes: {self.witness.where()}")
        s.stop()
        check(s.ends == [("success", "exited", "130")], f"ended once: {s.ends}")
        check(self.witness.safe(), f"the actuators are safe: {self.witness.where()}")
        check("STOPPING=1" in s.heard and "at its safe value" in s.status, f"the manager was told: {s.status}")
        check(any("nothing to do" in t for _, t in s.journal), "make-safe left an orderly end alone")
        self.journal(s)

    def reloaded(self):
        say("=== systemctl reload (SIGHUP)")
        s = self.service(self.running)
        s.wait("ready")
        narrow = self.text.replace("range = [60.0, 95.0]", "range = [60.0, 80.0]")
        self.write(narrow)
        s.reload()
        check(self.witness.wait(lambda: any("reloaded: narrower" in t for _, t in s.journal), 3), "a narrower range is taken over")
        self.write(self.text)
        s.reload()
        told = self.witness.wait(lambda: any(p == 3 and "is wider than" in t for p, t in s.journal), 3)
        check(told and s.main.poll() is None, "a wider one is refused, and the run goes on")
        s.stop()
        check(s.ends == [("success", "exited", "130")], f"stopped: {s.ends}")
        self.journal(s)

    def refused(self):
        say("=== a broken file")
        self.write(self.text + "\n[nonsense]\n")
        s = self.service(self.running)
        s.wait("dead", 20)
        check(s.ends == [("exit-code", "exited", "3")] and s.starts == 1, f"exit code 3 is not tried again: {s.ends}")
        self.write(self.text)

    def send(self, command, user="operator", **more):
        """Sends a command as an operator does and returns the answer, None where none came."""
        session = json.loads(self.witness.last[TREE + "status"])["session"]
        transaction = f"{user}-{command}-{len(self.witness.all)}"
        content = {"transaction": transaction, "session": session, "expires_ms": 10000, **more}
        subprocess.run(self.place.client("mosquitto_pub", user, "-q", "1", "-t", TREE + "cmd/" + command, "-m", json.dumps(content)), check=True,
                       stderr=subprocess.DEVNULL)

        def answers():
            found = [json.loads(p) for _, t, p in list(self.witness.all) if t == TREE + "resp/" + command]
            return [a for a in found if a.get("transaction") == transaction]
        self.witness.wait(answers, 3)
        return (answers() or [None])[0]

    def state(self):
        return json.loads(self.witness.last.get(TREE + "state", "{}")).get("state")

    def commanded(self):
        say("=== as the unit has it: hold; then every command, over TLS")
        s = self.service()
        s.wait("ready")
        time.sleep(3)
        check(self.witness.safe() and s.main.poll() is None, f"it reads, stays still and waits: {s.status}")
        check(self.witness.wait(lambda: TREE + "status" in self.witness.last), f"status: {self.witness.last.get(TREE + 'status')}")

        def tried(command, ok, state, **more):
            answer = self.send(command, **more)
            good = answer is not None and (ok is None or answer.get("ok") is ok) and self.witness.wait(lambda: state is None or self.state() == state, 15)
            shown = {k: v for k, v in (answer or {}).items() if k in ("ok", "code", "message")}
            check(good, f"{command}: {shown}; state {self.state()}")
        tried("status", True, None)
        answer = self.send("resume", user="observer")
        check(answer is None and self.witness.safe(), "resume from an account without the right: the broker lets nothing through")
        tried("resume", True, "running")
        check(self.moves(), f"it tunes: {self.witness.where()}")
        tried("pause", True, "held")
        tried("resume", True, "running")
        tried("set-best", False, None, session="another")
        subprocess.run(self.place.client("mosquitto_pub", "observer", "-t", "lab/bench/energy", "-m", '{"value": 19.9}'), check=True, stderr=subprocess.DEVNULL)
        forged = [p for _, t, p in self.witness.all if t == "lab/bench/energy" and json.loads(p)["value"] == 19.9]
        check(not forged, "a forged reading: the broker lets nothing through")
        tried("reset", None, "running")
        tried("set-best", True, None)
        event = s.wait("ended", 150)
        check(event[1:] == ("success", "exited", "0"), f"the run ends as it should: {event[1:]}; {s.status}")
        s.wait("dead")
        check(s.starts == 1, "and is not started again")
        check('"state":"offline"' in self.witness.last[TREE + "status"], f"status: {self.witness.last[TREE + 'status']}")
        self.journal(s)

        say("=== a stop, which latches")
        s = self.service()
        s.wait("ready")
        tried("resume", True, "running")
        check(self.moves(), f"it tunes: {self.witness.where()}")
        tried("stop", True, None)
        event = s.wait("ended", 60)
        check(event[1:] == ("exit-code", "exited", "4"), f"the run has ended: {event[1:]}; {s.status}")
        check(self.witness.wait(self.witness.safe), f"the actuators are safe: {self.witness.where()}")
        s.wait("dead")
        check(s.starts == 1, "and is not started again")
        env = {**os.environ, "STATE_DIRECTORY": s.state}
        again = subprocess.run([self.tuner, "run", self.config], env={**env, "CREDENTIALS_DIRECTORY": self.place.folder}, capture_output=True, text=True, check=False)
        check(again.returncode == 4 and "still latched" in again.stderr, f"nor by hand: {again.stderr.strip().splitlines()[-2:]}")
        cleared = subprocess.run([self.tuner, "reset", self.config], env=env, capture_output=True, text=True, check=False)
        check(cleared.returncode == 0 and "cleared" in cleared.stdout, f"tuner reset: {cleared.stdout.strip()}")

    def run(self):
        self.begin()
        self.stopped()
        self.killed("kill -KILL", lambda s: s.main.kill(), "signal")
        self.killed("kill -ABRT", lambda s: s.main.send_signal(signal.SIGABRT), "exit-code")
        self.killed("a stall: SIGSTOP, which only the watchdog notices", lambda s: s.main.send_signal(signal.SIGSTOP), "watchdog")
        self.reloaded()
        self.refused()
        self.commanded()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = p.add_mutually_exclusive_group(required=True)
    what.add_argument("--deb", help="install this package and try what it brings")
    what.add_argument("--binary", help="try this program")
    p.add_argument("--port", type=int, default=18883, help="for the broker")
    o = p.parse_args()
    if o.deb:
        if os.geteuid() != 0:
            p.error("only root may install a package")
        if shutil.which("tuner", path="/usr/bin"):
            p.error("tuner is installed here already: take it away first")
        subprocess.run(["dpkg", "-i", o.deb], check=True)
        atexit.register(subprocess.run, ["dpkg", "--purge", "tuner"], check=False)
        atexit.register(shutil.rmtree, "/var/lib/tuner/trial", True)
        atexit.register(lambda: os.path.exists("/etc/tuner/trial.toml") and os.remove("/etc/tuner/trial.toml"))
    Trial(o).run()
    print(f"{len(FAILURES)} failed" if FAILURES else "all was as it should be")
    for f in FAILURES:
        print("  " + f)
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
