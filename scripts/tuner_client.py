"""Command a running tuner from Python, on the same computer. Standard library only.

    import tuner_client
    for run in tuner_client.runs():
        print(run.name, run.status()["state"])
    tuner_client.run("laser").pause(reason="sample change")
"""

import glob
import http.client
import json
import os
import socket
import uuid


class Refused(Exception):
    """The run has refused a command: code is one word for programs, message says why."""

    def __init__(self, answer):
        super().__init__(f"{answer['command']} was refused ({answer['code']}): {answer['message']}")
        self.code, self.message, self.answer = answer["code"], answer["message"], answer


class _Connection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Run:
    """A run, reached by its socket. identity is what it says of itself (a dict)."""

    def __init__(self, path, timeout=20.0):
        self.socket, self.timeout = path, timeout
        self.id = os.path.basename(path).removesuffix(".sock")
        self.identity = self._call("GET", "/api/run")
        self.name = self.identity["name"]

    def __repr__(self):
        return f"<tuner run {self.id}>"

    def status(self):
        """How the run stands, as `tuner status --json` has it under "status"."""
        return self._call("GET", "/api/status")

    def command(self, name, reason=None, **args):
        """Have a command carried out and return its answer (a dict); raises Refused."""
        if reason is not None:
            args["reason"] = reason
        answer = self._call("POST", "/api/command/" + name, {"transaction": str(uuid.uuid4()), "args": args})
        if not answer["ok"]:
            raise Refused(answer)
        return answer

    def pause(self, reason=None):
        return self.command("pause", reason)

    def resume(self, reason=None):
        return self.command("resume", reason)

    def reset(self, reason=None):
        return self.command("reset", reason)

    def set_best(self, reason=None):
        """End the search, at the recommended setting."""
        return self.command("set-best", reason)

    def end(self, reason=None):
        """End the run quietly: each actuator to its shutdown state."""
        return self.command("end", reason)

    def stop(self, reason=None):
        """Make safe: every actuator to its safe value, now. Latched until a reset."""
        return self.command("stop", reason)

    def _call(self, method, path, body=None):
        connection = _Connection(self.socket, self.timeout)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            answer = connection.getresponse()
            text = answer.read()
            if answer.status not in (200, 409):
                raise OSError(f"{self.socket}: {answer.status} {text.decode(errors='replace').strip()}")
            return json.loads(text)
        finally:
            connection.close()


def folders():
    """Where sockets may be: the services', then one's own."""
    own = f"tuner-{os.getuid()}"
    temp = os.environ.get("TMPDIR", "")
    places = [os.environ.get("RUNTIME_DIRECTORY", "").split(":")[0], *sorted(glob.glob("/run/tuner/*")),
              os.path.join(os.environ.get("XDG_RUNTIME_DIR") or "/nonexistent", "tuner"), f"/run/user/{os.getuid()}/tuner",
              os.path.join(temp if os.path.isabs(temp) else "/tmp", own)]
    return [p for p in dict.fromkeys(places) if p and os.path.isdir(p) and (p.startswith("/run/tuner/") or os.stat(p).st_uid == os.getuid())]


def runs():
    """The runs of this computer that answer this user."""
    found = []
    for folder in folders():
        for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*.sock"))):
            try:
                found.append(Run(path))
            except OSError:  # of a process that was killed, or another user's
                pass
    return found


def run(name=None):
    """The run of a name or id; without one, the only run there is."""
    found = [r for r in runs() if name is None or name in (r.name, r.id)]
    if len(found) != 1:
        raise LookupError(f"{len(found)} runs" + ("" if name is None else f" named {name!r}") + f": {[r.id for r in found]}")
    return found[0]
