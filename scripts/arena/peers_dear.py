"""Peers that take seconds a decision or gigabytes of packages: requirements-dear.txt, and requirements-hebo.txt for
HEBO. Where a package is not there, the row of a run says so."""

import numpy as np

from peers import OptunaGP, Peer

INITIAL = 8  # points before a model, where a package leaves that to its user


class BoTorch(Peer):
    """A single-task GP with the package's own priors; one candidate a step; recommends the best posterior mean among
    what was played."""

    package = "botorch"

    def acquisition(self, model, x):
        raise NotImplementedError

    def begin(self):
        import torch

        torch.manual_seed(self.seed)
        torch.set_num_threads(1)
        self.model = None
        self.sobol = torch.quasirandom.SobolEngine(self.d, scramble=True, seed=self.seed)

    def fitted(self):
        import torch
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.models.transforms import Standardize
        from gpytorch.mlls import ExactMarginalLogLikelihood

        x = torch.tensor(np.array([p for p, _ in self.played]), dtype=torch.double)
        y = -torch.tensor([[v] for _, v in self.played], dtype=torch.double)
        model = SingleTaskGP(x, y, outcome_transform=Standardize(m=1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model, x

    def ask(self):
        import torch
        from botorch.optim import optimize_acqf

        if not self.played:
            return self.start
        if len(self.played) < INITIAL:
            return self.sobol.draw(1).double().numpy()[0]
        model, x = self.fitted()
        self.model = model
        bounds = torch.tensor([[0.0] * self.d, [1.0] * self.d], dtype=torch.double)
        candidate, _ = optimize_acqf(self.acquisition(model, x), bounds, q=1, num_restarts=10, raw_samples=512)
        return candidate.detach().numpy()[0]

    def best(self):
        if self.model is None:
            return super().best()
        import torch

        x = torch.tensor(np.array([p for p, _ in self.played]), dtype=torch.double)
        with torch.no_grad():
            return x[self.model.posterior(x).mean.argmax()].numpy()


class LogEI(BoTorch):
    name, settings = "botorch-logei", "LogExpectedImprovement over the best posterior mean; 8 initial Sobol points; 10 restarts, 512 raw samples"

    def acquisition(self, model, x):
        from botorch.acquisition import LogExpectedImprovement

        return LogExpectedImprovement(model, best_f=model.posterior(x).mean.max())


class NoisyEI(BoTorch):
    name, settings = "botorch-nei", "qLogNoisyExpectedImprovement, q = 1; else as botorch-logei"

    def acquisition(self, model, x):
        from botorch.acquisition import qLogNoisyExpectedImprovement

        return qLogNoisyExpectedImprovement(model, X_baseline=x)


class TuRBO(BoTorch):
    """Thompson steps in a box around the best posterior mean, after Eriksson et al. (2019): 3 successes double it, d
    failures halve it, below 2^-7 it begins anew."""

    name, settings = "turbo-1", "on BoTorch's GP: length 0.8 (0.5^7 to 1.6), 3 successes, max(4, d) failures, min(100 d, 5000) candidates; 8 initial points"

    def begin(self):
        super().begin()
        self.length, self.won, self.lost, self.rng = 0.8, 0, 0, np.random.default_rng(self.seed)

    def ask(self):
        import torch
        from botorch.generation import MaxPosteriorSampling

        if len(self.played) < INITIAL:
            return super().ask()
        self.model, x = self.fitted()
        centre = x[self.model.posterior(x).mean.argmax()].numpy()
        scale = self.model.covar_module
        lengths = getattr(scale, "base_kernel", scale).lengthscale.detach().numpy().ravel()
        weights = lengths / np.exp(np.mean(np.log(lengths)))
        low, high = np.clip(centre - weights * self.length / 2, 0, 1), np.clip(centre + weights * self.length / 2, 0, 1)
        many = min(100 * self.d, 5000)
        points = low + (high - low) * self.rng.random((many, self.d))
        keep = self.rng.random((many, self.d)) >= min(1.0, 20 / self.d)
        points[keep] = np.broadcast_to(centre, points.shape)[keep]
        chosen = MaxPosteriorSampling(self.model, replacement=False)(torch.tensor(points), num_samples=1)
        return chosen.detach().numpy()[0]

    def tell(self, x, y):
        if len(self.played) <= INITIAL:
            return
        before = min(v for _, v in self.played[:-1])
        won = y < before - 1e-3 * abs(before)
        self.won, self.lost = (self.won + 1, 0) if won else (0, self.lost + 1)
        if self.won == 3:
            self.length, self.won = min(2 * self.length, 1.6), 0
        if self.lost == max(4, self.d):
            self.length, self.lost = self.length / 2, 0
        if self.length < 0.5**7:
            self.length = 0.8


class Ax(Peer):
    name, package, settings = "ax", "ax-platform", "Client, its default generation strategy; recommends get_best_parameterization"

    def begin(self):
        from ax.api.client import Client
        from ax.api.configs import RangeParameterConfig

        self.client = Client(random_seed=self.seed)
        self.client.configure_experiment(parameters=[RangeParameterConfig(name=f"x{i}", bounds=(0, 1), parameter_type="float") for i in range(self.d)])
        self.client.configure_optimization(objective="-y")

    def ask(self):
        if not self.played:
            self.trial = self.client.attach_trial({f"x{i}": float(v) for i, v in enumerate(self.start)})
            return self.start
        ((self.trial, point),) = self.client.get_next_trials(max_trials=1).items()
        return np.array([point[f"x{i}"] for i in range(self.d)])

    def tell(self, x, y):
        self.client.complete_trial(self.trial, raw_data={"y": float(y)})

    def best(self):
        point = self.client.get_best_parameterization(use_model_predictions=True)[0]
        return np.array([point[f"x{i}"] for i in range(self.d)])


class Xopt(Peer):
    package, settings = "xopt", "defaults; recommends the best reading"

    def generator(self, vocs):
        raise NotImplementedError

    def begin(self):
        from gest_api.vocs import VOCS

        self.g = self.generator(VOCS(variables={f"x{i}": [0.0, 1.0] for i in range(self.d)}, objectives={"y": "MINIMIZE"}))

    def ask(self):
        if not self.played or (self.model_first and len(self.played) < INITIAL):
            return self.start if not self.played else np.random.default_rng([self.seed, len(self.played)]).random(self.d)
        point = self.g.generate(1)[0]
        return np.array([point[f"x{i}"] for i in range(self.d)])

    model_first = False

    def tell(self, x, y):
        import pandas

        self.g.add_data(pandas.DataFrame([{**{f"x{i}": v for i, v in enumerate(x)}, "y": y}]))


class XoptRCDS(Xopt):
    name = "xopt-rcds"

    def generator(self, vocs):
        from xopt.generators.sequential.rcds import RCDSGenerator

        return RCDSGenerator(vocs=vocs)


class XoptES(Xopt):
    name = "xopt-es"

    def generator(self, vocs):
        from xopt.generators.sequential.extremumseeking import ExtremumSeekingGenerator

        return ExtremumSeekingGenerator(vocs=vocs)


class XoptEI(Xopt):
    name, model_first = "xopt-ei", True

    def generator(self, vocs):
        from xopt.generators.bayesian import ExpectedImprovementGenerator

        return ExpectedImprovementGenerator(vocs=vocs)


class HEBO(Peer):
    name, package, settings = "hebo", "hebo", "HEBO(space), defaults, scramble_seed = seed; recommends the best reading"

    def begin(self):
        from hebo.design_space.design_space import DesignSpace
        from hebo.optimizers.hebo import HEBO as Optimizer

        space = DesignSpace().parse([{"name": f"x{i}", "type": "num", "lb": 0, "ub": 1} for i in range(self.d)])
        self.optimizer = Optimizer(space, scramble_seed=self.seed)

    def ask(self):
        self.frame = self.optimizer.suggest(n_suggestions=1)
        if not self.played:
            self.frame.iloc[0] = self.start
        return self.frame.to_numpy(float)[0]

    def tell(self, x, y):
        self.optimizer.observe(self.frame, np.array([[y]]))


DEAR = [OptunaGP, LogEI, NoisyEI, TuRBO, Ax, XoptRCDS, XoptES, XoptEI, HEBO]
