"""tuner as a user runs it: `tuner run` with a file that the arena writes, one process a run, an exec child as instrument."""

import http.client
import json
import os
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
HELPER = os.path.join(HERE, "..", "..", "drivers", "exec", "examples")
# A step's settings are taken over when the device says so; a slower machine only takes longer.
FILE = """schema = 1
name = "arena"
seed = {seed}
objective = {{ sensor = "loss", goal = "minimize" }}
policy = {{ {policy} }}
stop = {{ {stop}, verify = 0 }}
socket = {{ folder = {folder} }}
device = [{{ name = "bench", driver = "exec", command = [{python}, {child}, {line}, {helper}] }}]
sensor = [{{ name = "loss", unit = "1", device = "bench", range = [-1e12, 1e12], max_age = "10s" }}]
variable = [
{variables}
]
{cost}{more}
[safety.variable]
{safety}
"""


FEW = 10  # knobs: of more, tuner init writes kind ei


class Variant:
    """A way to set tuner up: the lines of the file that differ from the default."""

    def __init__(self, name, kind="irgp-ucb", many=None, more="", paid=None, settings=""):
        self.name, self.kind, self.many, self.more, self.paid, self.settings = name, kind, many or kind, more, paid, settings

    def policy(self, problem, deadline):
        more = f', deadline = {quoted(deadline)}' if deadline else ""
        kind = self.kind if problem.d <= FEW else self.many
        return f'kind = "{self.paid if self.paid and problem.cost.per else kind}"{more}'


VARIANTS = [
    Variant("tuner", many="ei", settings="what tuner init writes (irgp-ucb, ei of more than ten knobs), with every default; recommends what its status names best"),
    Variant("tuner-fit", more='[model]\nhyperparameters = "fit"\n', settings='tuner with [model] hyperparameters = "fit"'),
    Variant("tuner-per-cost", paid="ei-per-cost", settings="tuner with kind ei-per-cost where settings have prices, as docs/how-to/costs.md has it"),
]


def quoted(text):
    return json.dumps(str(text))


def configuration(problem, variant, seed, steps, folder, deadline):
    variables = [f"  {{ name = {quoted(k.name)}, unit = {quoted(k.unit)}, range = [{k.low!r}, {k.high!r}], device = \"bench\","
                 f" readback = {{ tolerance = {1e-6 * (k.high - k.low)!r} }} }}," for k in problem.knobs]
    start = problem.start(seed)
    safety = [f"{k.name} = {{ hard = [{k.low!r}, {k.high!r}], slew = {1e6 * (k.high - k.low)!r}, safe = {float(s)!r} }}"
              for k, s in zip(problem.knobs, start)]
    cost, stop = "", f"steps = {steps}"
    if problem.cost.per:
        parts = " + ".join([repr(float(problem.cost.base))] + [f"{float(v)!r}*{n}" for n, v in problem.cost.per.items()])
        cost = f"cost = {{ unit = {quoted(problem.cost.unit)}, formula = {quoted(parts)} }}\n"
        stop = f"cost = {steps * problem.price_mean!r}"
    text = FILE.format(seed=seed, policy=variant.policy(problem, deadline), stop=stop, folder=quoted(folder), python=quoted(sys.executable),
                       child=quoted(os.path.join(HERE, "child.py")), line=quoted(os.path.join(folder, "line")), helper=quoted(HELPER),
                       variables="\n".join(variables), more=variant.more, safety="\n".join(safety), cost="")
    # [cost] as a line of its own stands before the first section.
    return text.replace("variable = [", cost + "variable = [", 1) if cost else text


class Bench:
    """The arena's end of the child's socket: it has the problem, and asks the run what it recommends before each change."""

    def __init__(self, problem, seed, folder):
        self.problem, self.folder, self.rng = problem, folder, problem.noise(seed)
        self.now = dict(zip((k.name for k in problem.knobs), map(float, problem.start(seed))))
        self.recommended = {}  # step -> values
        self.child_cpu = 0.0
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(os.path.join(folder, "line"))
        self.socket.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:  # closed: the run is over
                return
            with connection, connection.makefile("rw", encoding="utf-8") as line:
                for text in line:
                    line.write(json.dumps(self.answer(json.loads(text))) + "\n")
                    line.flush()

    def answer(self, request):
        self.child_cpu = request["cpu"]
        if request["op"] == "hello":
            return {"knobs": [{"name": k.name, "unit": k.unit, "low": k.low, "high": k.high} for k in self.problem.knobs]}
        if request["op"] == "write":
            self.look()
            self.now.update(request["values"])
            return {"values": self.now}
        values = dict(self.now)
        if request["loss"]:
            values["loss"] = self.problem.reading([self.now[k.name] for k in self.problem.knobs], self.rng)
        return {"values": values}

    def look(self):
        """What the run recommends by the steps that are over; without an answer the step before stands."""
        try:
            status = ask_status(self.folder)
        except (OSError, ValueError, http.client.HTTPException):
            return
        best = status.get("recommended")
        if best and status.get("steps"):
            self.recommended[int(status["steps"])] = best["values"]

    def close(self):
        self.socket.close()


def ask_status(folder):
    path = next((os.path.join(folder, f) for f in os.listdir(folder) if f.endswith(".sock")), None)
    if path is None:
        raise OSError("no socket yet")
    line = http.client.HTTPConnection("localhost", timeout=5)
    line.sock = socket.socket(socket.AF_UNIX)
    line.sock.settimeout(5)
    line.sock.connect(path)
    try:
        line.request("GET", "/api/status")
        return json.loads(line.getresponse().read())
    finally:
        line.close()


class Failed(Exception):
    """A run of tuner that gave no result; with its own words."""


def run(binary, variant, problem, seed, steps, deadline=""):
    """Plays a run: settings and recommendations by step, and seconds of CPU without the child's. deadline is [policy]'s, "" its default."""
    folder = tempfile.mkdtemp(prefix="arena-")
    bench = Bench(problem, seed, folder)
    try:
        path = os.path.join(folder, "arena.toml")
        with open(path, "w", encoding="utf-8") as f:
            f.write(configuration(problem, variant, seed, steps, folder, deadline))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(os.path.join(folder, "log"), "w", encoding="utf-8") as log:
            done = subprocess.run([binary, "run", path, "--json", "-q"], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
                                  text=True, env={**os.environ, "XDG_STATE_HOME": folder}, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        played = [line for line in lines if line["type"] == "step"]
        result = next((line for line in lines if line["type"] == "result"), None)
        if done.returncode != 0 or result is None or not played:
            with open(os.path.join(folder, "log"), encoding="utf-8") as log:
                words = re.sub(r"\s+", " ", log.read().replace(folder, "")).strip()
            raise Failed(f"exit code {done.returncode}: {words[:400]}")
        names = [k.name for k in problem.knobs]
        bench.recommended[len(played)] = [result["recommended"][n] for n in names]
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime - bench.child_cpu
        return [[line["x"][n] for n in names] for line in played], bench.recommended, max(cpu, 0.0)
    finally:
        bench.close()
        shutil.rmtree(folder, ignore_errors=True)


def version(binary):
    return subprocess.run([binary, "version"], stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")[0].strip()
