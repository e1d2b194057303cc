"""The programs that play beside tuner: ask for a point of the unit cube, tell its reading, name the best setting.

All minimise. The first point that is played is the problem's start, which each is told as far as it takes points.
Settings are each program's defaults unless its line in SETTINGS says otherwise; what it recommends is its own word.
"""

import importlib.metadata
import queue
import threading

import numpy as np

from packaged import present


class Peer:
    """One program in one run. package names what has to be installed, "" for nothing."""

    name = package = settings = ""

    def __init__(self, start, seed, budget):
        self.start, self.d, self.seed, self.budget = np.asarray(start, float), len(start), seed, budget
        self.played = []
        if self.package:
            present(self.package)
        self.begin()

    def begin(self):
        """Make ready; readings come later."""

    def ask(self):
        """The next point."""
        raise NotImplementedError

    def tell(self, x, y):
        """The reading at a point that was asked for."""

    def best(self):
        """What the program would have a user set now: the best reading, unless it knows better."""
        return min(self.played, key=lambda p: p[1])[0]

    def take(self, x, y):
        self.played.append((np.asarray(x, float), y))
        self.tell(np.asarray(x, float), y)

    @classmethod
    def version(cls):
        return f"{cls.package} {importlib.metadata.version(present(cls.package))}" if cls.package else "arena"


class Random(Peer):
    name, settings = "random", "uniform after the start; recommends the best reading"

    def begin(self):
        self.rng = np.random.default_rng([77, self.seed])

    def ask(self):
        return self.rng.random(self.d) if self.played else self.start


class OptunaPeer(Peer):
    package = "optuna"

    def sampler(self, optuna):
        raise NotImplementedError

    def begin(self):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.study = optuna.create_study(sampler=self.sampler(optuna))
        self.study.enqueue_trial({f"x{i}": float(v) for i, v in enumerate(self.start)})

    def ask(self):
        self.trial = self.study.ask()
        return np.array([self.trial.suggest_float(f"x{i}", 0, 1) for i in range(self.d)])

    def tell(self, x, y):
        self.study.tell(self.trial, y)


class OptunaTPE(OptunaPeer):
    name, settings = "optuna-tpe", "TPESampler(seed); recommends study.best_params, the best reading"

    def sampler(self, optuna):
        return optuna.samplers.TPESampler(seed=self.seed)


class OptunaGP(OptunaPeer):
    name, settings = "optuna-gp", "GPSampler(seed), which wants torch; recommends study.best_params, the best reading"

    def sampler(self, optuna):
        present("torch")
        return optuna.samplers.GPSampler(seed=self.seed)


class CMA(Peer):
    name, package = "cma-es", "cma"
    settings = "sigma0 0.25, bounds [0, 1], from the start; recommends xfavorite, the mean of its distribution"

    def begin(self):
        import cma

        # No tolerance ends it: noise looks like convergence.
        self.es = cma.CMAEvolutionStrategy(self.start, 0.25, {"bounds": [0, 1], "seed": self.seed + 1, "verbose": -9,
                                                              "tolfun": 0, "tolx": 0, "tolfunhist": 0, "tolflatfitness": 10**9})
        self.waiting, self.done = [], []

    def ask(self):
        if not self.played:
            return self.start
        if not self.waiting:
            self.waiting = list(self.es.ask())
        return np.clip(self.waiting[0], 0, 1)

    def tell(self, x, y):
        if not self.waiting:
            return
        self.done.append((self.waiting.pop(0), y))
        if not self.waiting:
            self.es.tell(*zip(*self.done))
            self.done = []

    def best(self):
        return self.start if self.es.countiter == 0 else np.clip(self.es.result.xfavorite, 0, 1)


class Threaded(Peer):
    """A program that calls the function itself: it runs in a thread that waits for each reading."""

    def minimise(self, f):
        raise NotImplementedError

    def begin(self):
        self.asked, self.answers = queue.Queue(), queue.Queue()
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        def f(x):
            self.asked.put(np.clip(np.array(x, float), 0, 1))
            return self.answers.get()

        try:
            self.minimise(f)
            self.asked.put(None)
        except Exception as trouble:  # told to the caller of ask
            self.asked.put(trouble)

    def ask(self):
        x = self.asked.get()
        if isinstance(x, Exception):
            raise x
        return self.best() if x is None else x  # it has ended: the rest of the budget stays where it is

    def tell(self, x, y):
        self.answers.put(y)


class NelderMead(Threaded):
    name, package, settings = "nelder-mead", "scipy", "adaptive, bounds [0, 1], from the start; recommends the best reading"

    def minimise(self, f):
        from scipy.optimize import minimize

        minimize(f, self.start, method="Nelder-Mead", bounds=[(0, 1)] * self.d,
                 options={"adaptive": True, "maxfev": 10**9, "maxiter": 10**9, "xatol": 0, "fatol": 0})


class Nevergrad(Peer):
    package, algorithm = "nevergrad", ""

    def begin(self):
        import nevergrad

        knobs = nevergrad.p.Array(init=self.start).set_bounds(0, 1)
        knobs.random_state.seed(self.seed)
        self.optimizer = nevergrad.optimizers.registry[self.algorithm](parametrization=knobs, budget=self.budget)

    def ask(self):
        if not self.played:
            return self.start
        self.candidate = self.optimizer.ask()
        return self.candidate.value

    def tell(self, x, y):
        if len(self.played) == 1:
            self.candidate = self.optimizer.parametrization.spawn_child(new_value=x)
        self.optimizer.tell(self.candidate, y)

    def best(self):
        return self.optimizer.provide_recommendation().value


class OnePlusOne(Nevergrad):
    name, algorithm, settings = "nevergrad-1+1", "OptimisticNoisyOnePlusOne", "OptimisticNoisyOnePlusOne, budget told; its recommendation"


class TBPSA(Nevergrad):
    name, algorithm, settings = "nevergrad-tbpsa", "TBPSA", "TBPSA, budget told; its recommendation"


CHEAP = [Random, OptunaTPE, CMA, NelderMead, OnePlusOne, TBPSA]
