"""Decisions by BoTorch, for scripts/compare: run it by a Python that has it (pip install botorch).

Reads one job a line from the standard input and answers with the median execution, in microseconds of the
processor's time, of as many as fit into 50 ms (at least one):

    steps N     the model of N observations in three variables, its hyperparameters given; LogEI maximised
    fits N      the same, hyperparameters fitted first

The model is SingleTaskGP as it comes; the maximum is by optimize_acqf with 10 restarts and 256 raw samples, the numbers
of BoTorch's own examples or near them. One thread.
"""

import time
import warnings

import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

from serve import serve, timed

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
warnings.simplefilter("ignore")


def observations(n):
    torch.manual_seed(n)
    x = torch.rand(n, 3)
    y = torch.sin(5 * x + torch.arange(3)).sum(-1, keepdim=True) + 0.1 * torch.randn(n, 1)
    return x, (y - y.mean()) / y.std()


def fitted(x, y):
    model = SingleTaskGP(x, y)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def decision(job, n):
    x, y = observations(n)
    known = fitted(x, y).state_dict()

    def decide():
        if job == "fits":
            model = fitted(x, y)
        else:
            model = SingleTaskGP(x, y)
            model.load_state_dict(known)
        model.eval()
        bounds = torch.stack([torch.zeros(3), torch.ones(3)])
        return optimize_acqf(LogExpectedImprovement(model, best_f=y.max()), bounds, q=1, num_restarts=10, raw_samples=256)

    return decide


if __name__ == "__main__":
    serve(lambda job, n: timed(decision(job, int(n)), time.process_time))
