"""A stand-in for systemd, for machines where it is not process 1: it reads a unit file
and its drop-ins and does of them what decides how a service begins, lives and ends.

    Type=notify, NotifyAccess=main, NOTIFY_SOCKET        READY, STATUS, RELOADING, STOPPING
    WatchdogSec, WATCHDOG_USEC, WATCHDOG_PID             SIGABRT after silence, then SIGKILL
    ExecStart, ExecReload, ExecStopPost                  with $SERVICE_RESULT, $EXIT_CODE, $EXIT_STATUS
    KillMode=mixed, TimeoutStopSec, TimeoutAbortSec
    Restart=on-failure, RestartSec, SuccessExitStatus, RestartPreventExitStatus
    StateDirectory, RuntimeDirectory                     $STATE_DIRECTORY, $RUNTIME_DIRECTORY
    LoadCredential, SetCredential                        $CREDENTIALS_DIRECTORY
    JOURNAL_STREAM                                       lines with their priorities
    DynamicUser, SupplementaryGroups                     a user without a name (only as root)

It confines nothing: what the unit forbids is systemd's to enforce, and is looked at with
"systemd-analyze security". What it does not know it says.
"""

import atexit
import grp
import os
import queue
import re
import select
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

# Keys that only confine, or that matter only to a real manager.
IGNORED = re.compile(
    r"^(Description|Documentation|After|Wants|WantedBy|Assert.*|StartLimit.*|Protect.*|Private.*|Restrict.*|Device.*|SystemCall.*"
    r"|NoNewPrivileges|.*Capabilit.*|LockPersonality|MemoryDenyWriteExecute|RemoveIPC|UMask)$")
KNOWN = {"Type", "NotifyAccess", "ExecStart", "ExecReload", "ExecStopPost", "TimeoutStartSec", "TimeoutStopSec", "TimeoutAbortSec",
         "WatchdogSec", "KillMode", "Restart", "RestartSec", "SuccessExitStatus", "RestartPreventExitStatus", "LoadCredential",
         "SetCredential", "DynamicUser", "SupplementaryGroups", "StateDirectory", "StateDirectoryMode",
         "RuntimeDirectory", "RuntimeDirectoryMode", "Environment"}
LISTS = {"ExecStopPost", "LoadCredential", "SetCredential", "Environment"}
DYNAMIC_UID = 61184  # the first of the range that systemd takes such users from


def seconds(text):
    """A time span as systemd writes it."""
    total, unit = 0.0, {"": 1, "s": 1, "ms": 0.001, "min": 60, "h": 3600}
    for number, suffix in re.findall(r"([0-9.]+)\s*([a-z]*)", text):
        total += float(number) * unit[suffix]
    return total


def parse(files, instance):
    """The keys of a unit and its drop-ins; an empty value forgets what a list has."""
    unit = {}
    for name in files:
        with open(name, encoding="utf-8") as f:
            for line in f:
                line = line.strip()
                if not line or line[0] in "#;[":
                    continue
                key, _, value = line.partition("=")
                value = value.strip().replace("%i", instance)
                if IGNORED.match(key):
                    continue
                if key not in KNOWN:
                    raise SystemExit(f"standin: {name}: it does not know {key}=")
                if key not in LISTS:
                    unit[key] = value
                elif value:
                    unit.setdefault(key, []).append(value)
                else:
                    unit[key] = []
    return unit


class Service:
    """One service from start to end. Calls may come from any thread."""

    def __init__(self, files, instance, state_root, say):
        self.unit, self.instance, self.say = parse(files, instance), instance, say
        self.state = os.path.join(state_root, self.unit["StateDirectory"])
        self.uid = DYNAMIC_UID if os.geteuid() == 0 and self.unit.get("DynamicUser") == "yes" else None
        self.run = tempfile.mkdtemp(prefix="standin-")
        os.chmod(self.run, 0o711)
        self.runtime = os.path.join(self.run, "runtime", self.unit["RuntimeDirectory"])
        self.directory(self.state, "StateDirectoryMode")
        self.credentials()
        self.journal, self.heard, self.status, self.ends = [], [], "", []
        self.events = queue.Queue()
        self.main = None
        self.starts = 0
        self.stopping = False
        self.stalled = False  # held on purpose, by a trial
        self.thread = None
        atexit.register(self.abandon)

    def directory(self, path, mode):
        """Makes a folder that is the service's own."""
        os.makedirs(path, exist_ok=True)
        os.chmod(path, int(self.unit.get(mode, "0755"), 8))
        self.own(path)

    def own(self, path):
        """Gives a folder and what is in it to the service's user, as StateDirectory= does."""
        if self.uid is None:
            return
        os.chown(path, self.uid, self.uid)
        for folder, dirs, files in os.walk(path):
            for name in dirs + files:
                os.chown(os.path.join(folder, name), self.uid, self.uid)

    def credentials(self):
        """Hands over the credentials: what is set stands in for a file that is not there."""
        folder = os.path.join(self.run, "credentials")
        os.mkdir(folder, 0o700)
        for item in self.unit.get("SetCredential", []):
            name, _, text = item.partition(":")
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text.encode().decode("unicode_escape"))
        for item in self.unit.get("LoadCredential", []):
            name, _, path = item.partition(":")
            try:
                with open(path, "rb") as source:
                    content = source.read()
            except FileNotFoundError:
                continue
            with open(os.path.join(folder, name), "wb") as f:
                f.write(content)
        for name in os.listdir(folder):
            os.chmod(os.path.join(folder, name), 0o400)
        self.own(folder)

    # --- processes

    def spawn(self, command, extra):
        """Starts a command of the unit as its user, with its output going to the journal."""
        ours, theirs = socket.socketpair()
        stat = os.fstat(theirs.fileno())
        env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8",
               "STATE_DIRECTORY": self.state, "RUNTIME_DIRECTORY": self.runtime, "CREDENTIALS_DIRECTORY": os.path.join(self.run, "credentials"),
               "JOURNAL_STREAM": f"{stat.st_dev}:{stat.st_ino}", **extra}
        for item in self.unit.get("Environment", []):
            env.update(pair.split("=", 1) for pair in shlex.split(item))
        groups = [grp.getgrnam(g).gr_gid for g in self.unit.get("SupplementaryGroups", "").split()]

        def become():
            # What a parent ignores, its children ignore: SIGHUP under nohup. systemd has
            # every service begin with the defaults.
            for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
                signal.signal(number, signal.SIG_DFL)
            os.setsid()
            if self.uid is not None:
                os.setgroups(groups)
                os.setresgid(self.uid, self.uid, self.uid)
                os.setresuid(self.uid, self.uid, self.uid)

        argv = [word.replace("$MAINPID", str(self.main.pid) if self.main else "") for word in shlex.split(command)]
        p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=env, cwd="/", preexec_fn=become)
        theirs.close()
        reader = threading.Thread(target=self.read, args=(ours,), daemon=True)
        reader.start()
        p.reader = reader
        return p

    def read(self, stream):
        """Takes lines for the journal apart into priority and text."""
        with stream.makefile("r", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                m = re.match(r"<([0-7])>(.*)", line.rstrip("\n"))
                priority, text = (int(m[1]), m[2]) if m else (6, line.rstrip("\n"))
                self.journal.append((priority, text))
                self.say(f"journal <{priority}> {text}")

    def children(self):
        """Every process of the service's user or session besides this one."""
        found = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                with open(f"/proc/{entry}/environ", "rb") as f:
                    if self.run.encode() in f.read():
                        found.append(int(entry))
            except OSError:
                continue
        return found

    # --- life

    def start(self):
        self.thread = threading.Thread(target=self.live, daemon=True)
        self.thread.start()

    def live(self):
        while True:
            again = self.once()
            if not again or self.stopping:
                self.events.put("dead")
                return
            self.say(f"systemd: restart in {self.unit['RestartSec']} s")
            time.sleep(seconds(self.unit["RestartSec"]))

    def once(self):
        """Runs the service once; whether it is to be started again."""
        self.starts += 1
        self.directory(self.runtime, "RuntimeDirectoryMode")
        path = os.path.join(self.run, f"notify-{self.starts}")
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        sock.bind(path)
        os.chmod(path, 0o666)
        patience = seconds(self.unit["WatchdogSec"])
        self.say(f"systemd: starting {self.unit['ExecStart']}")
        # WATCHDOG_PID is left out: it would have to be set in the child, and without it the
        # whole service is meant, which comes to the same.
        self.main = self.spawn(self.unit["ExecStart"], {"NOTIFY_SOCKET": path, "WATCHDOG_USEC": str(int(patience * 1e6))})
        result = self.watch(sock, patience)
        status = self.main.wait()
        sock.close()
        code, word = ("exited", str(status)) if status >= 0 else ("killed", signal.Signals(-status).name[3:])
        fine = {0} | {int(s) for s in self.unit.get("SuccessExitStatus", "").split()}
        if result == "success" and code == "killed" and word not in ("TERM", "INT", "HUP", "PIPE"):
            result = "signal"
        elif result == "success" and code == "exited" and status not in fine:
            result = "exit-code"
        self.kill_rest()
        self.main.reader.join(60)  # nobody is left who could write to it
        self.say(f"systemd: ended: result {result}, {code}, status {word}")
        for command in self.unit.get("ExecStopPost", []):
            post = self.spawn(command, {"SERVICE_RESULT": result, "EXIT_CODE": code, "EXIT_STATUS": word})
            try:
                self.say(f"systemd: {command}: exit code {post.wait(seconds(self.unit['TimeoutStopSec']))}")
            except subprocess.TimeoutExpired:
                post.kill()
                self.say(f"systemd: {command}: killed, it took too long")
            self.kill_rest()
            post.reader.join(60)
        self.kill_rest()
        shutil.rmtree(self.runtime, ignore_errors=True)
        self.ends.append((result, code, word))
        self.events.put(("ended", result, code, word))
        prevent = {s for s in self.unit.get("RestartPreventExitStatus", "").split()}
        return self.unit.get("Restart") == "on-failure" and result != "success" and word not in prevent

    def watch(self, sock, patience):
        """Listens to the main process until it has ended."""
        begun, ready, last, term = time.monotonic(), False, 0.0, 0.0
        abort = seconds(self.unit.get("TimeoutAbortSec", self.unit["TimeoutStopSec"]))
        result, aborted = "success", 0.0
        while self.main.poll() is None:
            waiting = select.select([sock], [], [], 0.05)[0]
            now = time.monotonic()
            if waiting:
                text, ancillary, _, _ = sock.recvmsg(65536, socket.CMSG_SPACE(12))
                sender = int.from_bytes(ancillary[0][2][:4], "little") if ancillary else 0
                if sender != self.main.pid:  # NotifyAccess=main
                    continue
                lines = text.decode().splitlines()
                self.status = next((line[7:] for line in lines if line.startswith("STATUS=")), self.status)
                for line in lines:
                    self.heard.append(line)
                    if line == "READY=1" and not ready:
                        ready, last = True, now
                        self.events.put("ready")
                    elif line == "READY=1":
                        self.events.put("reloaded")
                    elif line == "WATCHDOG=1":
                        last = now
                    if line in ("READY=1", "RELOADING=1", "STOPPING=1"):
                        self.say(f"notify: {line}; {self.status}")
            if ready and patience and not aborted and not waiting and now - last > patience:
                self.say(f"systemd: no sign of life for {patience:g} s: SIGABRT")
                result, aborted = "watchdog", now
                self.main.send_signal(signal.SIGABRT)
            if aborted and now - aborted > abort:
                self.say("systemd: still there: SIGKILL")
                self.main.kill()
                self.main.wait()
            if self.stopping and not term:
                term = now
                self.main.send_signal(signal.SIGTERM)  # KillMode=mixed: the main process alone
            if term and now - term > seconds(self.unit["TimeoutStopSec"]):
                result = "timeout"
                self.main.kill()
            if not ready and now - begun > seconds(self.unit["TimeoutStartSec"]):
                result = "timeout"
                self.main.kill()
        while select.select([sock], [], [], 0)[0]:  # what was said last
            for line in sock.recv(65536).decode().splitlines():
                self.heard.append(line)
                if line.startswith("STATUS="):
                    self.status = line[7:]
        return result

    def kill_rest(self):
        """Ends what is left of the service, as at the end of KillMode=mixed."""
        for pid in self.children():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def abandon(self):
        """Leaves nothing behind where a trial ends before its time."""
        self.stopping = True
        self.kill_rest()

    def wait(self, what, limit=90.0):
        """Waits for an event, passing over others. Once the service is dead nothing else comes."""
        end, event = time.monotonic() + limit, None
        while event != "dead":
            try:
                event = self.events.get(timeout=max(end - time.monotonic(), 0.01))
            except queue.Empty:
                break
            if event == what or isinstance(event, tuple) and event[0] == what:
                return event
        why = "the service is dead" if event == "dead" else f"none within {limit:g} s"
        raise SystemExit(f"standin: error: no {what}: {why}; heard {self.heard[-5:]}, journal {self.journal[-8:]}")

    def reload(self):
        p = self.spawn(self.unit["ExecReload"], {})
        p.wait(60)
        self.wait("reloaded")

    def stop(self):
        self.stopping = True
        self.gone()

    def gone(self):
        """Waits until the service has ended and is not started again."""
        self.thread.join(300)
        if self.thread.is_alive():
            raise SystemExit(f"standin: error: the service goes on; heard {self.heard[-5:]}, journal {self.journal[-8:]}")
