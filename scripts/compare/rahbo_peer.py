"""Steps of RAHBO by its paper's own code, for scripts/compare: run it by a Python that has BoTorch, with the directory
of a checkout of github.com/Avidereta/risk-averse-hetero-bo.

Reads one job a line from the standard input and answers with the median execution, in microseconds of the
processor's time, of as many as fit into 50 ms (at least one):

    fits N      a step with N observations in three variables, each of ten readings: both models fitted, then RAHBO's
                bound maximised, by the code's own numbers (one restart, 1000 raw samples, beta 2, gamma 1)
    steps N     the same, hyperparameters given

It is written for BoTorch 0.4: what has another name today, or other defaults, is put back before it is read, so that
the models are those of then. The steps follow each other; from N + 20 observations on it begins anew. One thread.
"""

import sys
import time
import warnings

import botorch.acquisition.analytic
import botorch.acquisition.objective
import botorch.fit
import botorch.models
import botorch.utils.transforms
import torch
from botorch.models.utils.gpytorch_modules import (
    get_gaussian_likelihood_with_gamma_prior,
    get_matern_kernel_with_gamma_prior,
)
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood

from serve import serve

sys.dont_write_bytecode = True
torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
warnings.simplefilter("ignore")


class Bound(botorch.acquisition.analytic.AnalyticAcquisitionFunction):
    """the base of an acquisition function as it was"""

    def __init__(self, model, objective=None):
        super().__init__(model=model)

    def _get_posterior(self, X):
        return self.model.posterior(X)


class Model(botorch.models.SingleTaskGP):
    """SingleTaskGP as it was; FixedNoiseGP, where a variance comes with each value"""

    def __init__(self, train_X, train_Y, train_Yvar=None):
        super().__init__(train_X, train_Y, train_Yvar, outcome_transform=None,
                         covar_module=get_matern_kernel_with_gamma_prior(train_X.shape[-1]),
                         likelihood=None if train_Yvar is not None else get_gaussian_likelihood_with_gamma_prior())


botorch.models.SingleTaskGP = botorch.models.FixedNoiseGP = Model
botorch.acquisition.analytic.AnalyticAcquisitionFunction = Bound
botorch.acquisition.objective.ScalarizedObjective = object
botorch.utils.transforms.convert_to_target_pre_hook = None
botorch.fit.fit_gpytorch_model = botorch.fit.fit_gpytorch_mll

sys.path.insert(0, sys.argv[1])
from rahbo.acquisition.acquisition import RiskAverseUpperConfidenceBound  # noqa: E402
from rahbo.optimization import bo_step  # noqa: E402


def readings(x):
    """ten of the smooth function at each setting, whose noise depends on the first variable"""
    mean = torch.sin(5 * x + torch.arange(3)).sum(-1, keepdim=True)
    return mean + 0.1 * torch.exp(x[:, :1] / 2) * torch.randn(len(x), 10)


def bound(model, variances):
    return RiskAverseUpperConfidenceBound(model, variances, beta=2, beta_varproxi=2, gamma=1)


class Steps:
    """steps that follow each other, from n observations on; with 20 more it begins anew"""

    def __init__(self, job, n):
        self.n, self.fit = n, botorch.fit.fit_gpytorch_mll
        torch.manual_seed(n)
        self.begin()
        self.step()  # with its fits, whatever is asked
        if job == "steps":
            model, variances = self.state, self.variances.state_dict()
            self.fit = lambda mll: mll.model.load_state_dict(
                model if isinstance(mll.likelihood, FixedNoiseGaussianLikelihood) else variances)

    def begin(self):
        self.x, self.state = torch.rand(self.n, 3), None
        y = readings(self.x)
        self.mean, self.variance = y.mean(1, keepdim=True), y.var(1, keepdim=True)

    def step(self):
        bo_step.fit_gpytorch_model = self.fit
        self.x, self.mean, model, self.variance, self.variances = bo_step.bo_step_risk_averse(
            self.x, self.mean, readings, torch.stack([torch.zeros(3), torch.ones(3)]), GP=Model, acquisition=bound,
            state_dict=self.state, train_Yvar=self.variance)
        self.state = model.state_dict()

    def timed(self):
        if len(self.x) >= self.n + 20:
            self.begin()
        start = time.process_time()
        self.step()
        return time.process_time() - start


if __name__ == "__main__":
    serve(lambda job, n: Steps(job, int(n)).timed)
