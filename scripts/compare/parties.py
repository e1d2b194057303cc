"""Who takes part in a comparison, and how each is asked for a sample."""

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SAMPLE_MS = 50
CANDIDATES = 504  # right-hand sides of the quadratic form, as in gpcore's benchmark


def output(command, environment=None):
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=dict(os.environ, **(environment or {})))
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


@dataclass
class Go:
    """A benchmark of a package of ours, in a process of its own: PATH/n=N."""

    name: str
    path: str
    package: str = "./gpcore"

    def present(self, machine):
        return machine.go[self.package]

    def sample(self, binary, n):
        pattern = "/".join(f"^{part}$" for part in f"Benchmark{self.path}/n={n}".split("/"))
        text = output([binary, "-test.run=^$", f"-test.bench={pattern}", f"-test.benchtime={SAMPLE_MS}ms", "-test.cpu=1"],
                      {"GOMAXPROCS": "1"})
        line = next((l for l in text.splitlines() if l.startswith("Benchmark") and "\t" in l), None)
        if line is None:
            return None  # this commit or this processor does not have it
        return {unit: float(value) for value, unit in re.findall(r"([0-9.e+-]+) ([^\s]+)", line)}


@dataclass
class OpenBLAS:
    """The C program, with the library's own choice of kernels or another."""

    name: str
    job: str
    kernels: str = ""

    def present(self, machine):
        return machine.openblas if self.kernels in ("", "ZEN", "HASWELL") or machine.avx512 else None

    def environment(self):
        return {"OPENBLAS_NUM_THREADS": "1"} | ({"OPENBLAS_CORETYPE": self.kernels} if self.kernels else {})

    def sample(self, binary, n):
        numbers = [n, CANDIDATES] if self.job == "quadratic" else [n]
        return {"us": float(output([binary, self.job, *map(str, numbers), str(SAMPLE_MS)], self.environment()))}


@dataclass
class Python:
    """A job of peers.py, which runs all the time."""

    name: str
    job: str

    def present(self, machine):
        return machine.peers

    def sample(self, peers, n):
        peers.stdin.write(f"{self.job} {n}\n")
        peers.stdin.flush()
        answer = peers.stdout.readline()
        if not answer:
            sys.exit(f"{self.name}: the program ended at {self.job} {n}")
        return {"us": float(answer)}


@dataclass
class Program:
    """A program of the user's that decides by a library of C++, called as PROGRAM N MS: it prints the median time of a
    decision in microseconds."""

    name: str
    library: str  # the option that names the program

    def present(self, machine):
        return machine.programs.get(self.library) or None

    def sample(self, binary, n):
        return {"us": float(output([binary, str(n), str(SAMPLE_MS)]))}


@dataclass
class BoTorch(Python):
    """A job of botorch_peer.py, where a Python that has BoTorch is known."""

    def present(self, machine):
        return machine.botorch


@dataclass
class Reference(Python):
    """A job of a paper's own code, of which a checkout is known: of PAPER_peer.py."""

    paper: str

    def present(self, machine):
        return machine.papers.get(self.paper)


class Machine:
    """What is built and started for a run, and what there is to say about where it ran."""

    def __init__(self, programs, botorch="", codes=()):
        """codes are pairs of a paper and the directory of a checkout"""
        self.programs, self.botorch_python, self.codes = programs, botorch, dict(codes)
        self.botorch, self.papers = None, {}

    def start(self, python, script, *arguments):
        return subprocess.Popen([python, os.path.join(HERE, script), *arguments], text=True, cwd=ROOT, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE,
                                env=dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1"))

    def __enter__(self):
        with open("/proc/cpuinfo") as f:
            self.cpuinfo = dict(line.split(":", 1) for line in f.read().split("\n\n")[0].splitlines() if ":" in line)
        self.cpuinfo = {k.strip(): v.strip() for k, v in self.cpuinfo.items()}
        self.avx512 = "avx512f" in self.cpuinfo.get("flags", "")
        self.folder = tempfile.TemporaryDirectory()
        self.go = {}
        for package in ("./gpcore", "./loop/policy"):
            self.go[package] = os.path.join(self.folder.name, os.path.basename(package) + ".test")
            output(["go", "test", "-c", "-o", self.go[package], package])
        self.openblas = os.path.join(self.folder.name, "openblas")
        output(["gcc", "-O2", "-o", self.openblas, os.path.join(HERE, "openblas.c"), "-lopenblas", "-lm"])
        self.peers = self.start("/usr/bin/python3", "peers.py")
        if self.botorch_python:
            self.botorch = self.start(self.botorch_python, "botorch_peer.py")
        for paper, code in self.codes.items():
            self.papers[paper] = self.start(self.botorch_python, paper + "_peer.py", os.path.abspath(code))
        return self

    def __exit__(self, *_):
        for process in filter(None, [self.peers, self.botorch, *self.papers.values()]):
            process.stdin.close()
            process.wait()
        self.folder.cleanup()

    def available(self, job):
        """what each party of a job needs to be asked, by name, without those that have nothing to say"""
        found = {}
        for p in job.parties:
            handle = p.present(self)
            if handle and (not isinstance(p, Go) or p.sample(handle, job.n)):
                found[p.name] = handle
        return found

    @staticmethod
    def load():
        return "%.1f" % os.getloadavg()[0]

    def facts(self):
        c = self.cpuinfo
        changed = output(["git", "status", "--porcelain", "--", "gpcore", "loop/policy", "scripts/compare"]).strip()
        kernels = {k or "its own choice": output([self.openblas, "version"], OpenBLAS("", "", k).environment()).strip()
                   for k in ("", "SKYLAKEX", "ZEN")}
        facts = {
            "cpu": f"{c.get('model name')} (family {c.get('cpu family')}, model {c.get('model')}), {os.cpu_count()} cores",
            "commit": output(["git", "rev-parse", "--short", "HEAD"]).strip() + (" with changes" if changed else ""),
            "date": output(["date", "+%Y-%m-%d"]).strip(),
            "go": output(["go", "env", "GOVERSION"]).strip(),
            "openblas": "; ".join(f"{k}: {v}" for k, v in kernels.items()),
            "python": output(["/usr/bin/python3", "-c",
                              "import numpy, scipy, sklearn as s; print('numpy', numpy.__version__, 'scipy', scipy.__version__, "
                              "'scikit-learn', s.__version__)"]).strip(),
        }
        if self.botorch:
            facts["botorch"] = output([self.botorch_python, "-W", "ignore", "-c",
                                       "import botorch, torch; print(botorch.__version__, 'torch', torch.__version__)"]).strip()
        for paper, code in self.codes.items():
            facts[f"code of {paper}"] = output(["git", "-C", os.path.abspath(code), "rev-parse", "--short", "HEAD"]).strip()
        return facts
