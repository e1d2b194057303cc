"""One run of one peer on one problem, as a row of the results."""

import time
import traceback
from dataclasses import dataclass

import numpy as np

import catalogue
import peer_tuner
from packaged import Missing
from peers import CHEAP
from peers_dear import DEAR

PEERS = {p.name: p for p in CHEAP + DEAR}
VARIANTS = {v.name: v for v in peer_tuner.VARIANTS}
ROUND = 6  # significant digits of a regret


@dataclass(frozen=True)
class Program:
    """The tuner that is run: a file, what it is, and the deadline of its decisions ("": its default)."""

    binary: str
    version: str
    deadline: str = ""


def play(name, peer, seed, steps, program=None):
    """The row of a run; what goes wrong with the peer stands in it."""
    began = time.monotonic()
    row = {"problem": name, "peer": peer, "seed": seed, "steps": steps}
    try:
        problem = catalogue.problem(name)
        row |= {"half": catalogue.half_of(name), "d": problem.d, "budget": digits(steps * problem.price_mean), "scale": digits(problem.scale)}
        if peer in VARIANTS:
            row |= {"version": program.version, "deadline": program.deadline}
            settings, best, cpu = peer_tuner.run(program.binary, VARIANTS[peer], problem, seed, steps, program.deadline)
        else:
            row["version"] = PEERS[peer].version()
            settings, best, cpu = converse(PEERS[peer], problem, seed, steps)
        row |= {"status": "ok", **curves(problem, settings, best), "cpu_s": round(cpu, 4)}
    except (Missing, ModuleNotFoundError) as no:
        row |= {"status": "missing", "error": str(no)}
    except Exception as trouble:
        row |= {"status": "failed", "error": f"{type(trouble).__name__}: {trouble}"[:600]}
        if not isinstance(trouble, peer_tuner.Failed):
            row["where"] = traceback.format_exc()[-600:]
    return row | {"wall_s": round(time.monotonic() - began, 2)}


def converse(make, problem, seed, steps):
    """Plays an ask-and-tell peer while its budget lasts: settings, recommendations by step, its own seconds of CPU."""
    rng, left = problem.noise(seed), steps * problem.price_mean
    make.version()  # Missing before anything is spent
    clock = Clock()
    with clock:
        peer = make(problem.unit(problem.start(seed)), seed, steps)
    settings, best = [], {}
    while True:
        with clock:
            x = np.clip(np.asarray(peer.ask(), float), 0, 1)
        values = problem.values(x)
        price = problem.price(values)
        if price > left * (1 + 1e-9):
            break
        left -= price
        settings.append([float(v) for v in values])
        y = problem.reading(values, rng)
        with clock:
            peer.take(x, y)
            recommended = peer.best()
        best[len(settings)] = [float(v) for v in problem.values(recommended)]
    return settings, best, clock.spent


class Clock:
    """Seconds of CPU of this process, all its threads, inside with."""

    spent = 0.0

    def __enter__(self):
        self.began = time.process_time()

    def __exit__(self, *_):
        self.spent += time.process_time() - self.began


def curves(problem, settings, best):
    """Cost so far, the recommendation's true regret and the best visited one's by step. Before a peer's first word the
    start is recommended; a step without a word keeps the one before."""
    costs, regret, visited = [], [], []
    spent, now, least = 0.0, problem.loss(settings[0]) - problem.optimum, float("inf")
    for n, values in enumerate(settings, 1):
        spent += problem.price(values)
        least = min(least, problem.loss(values) - problem.optimum)
        if n in best:
            now = problem.loss(best[n]) - problem.optimum
        costs.append(digits(spent))
        regret.append(digits(now))
        visited.append(digits(least))
    return {"cost": costs, "regret": regret, "visited": visited}


def digits(value):
    return float(f"{value:.{ROUND}g}")
