"""Decisions of UCB-CVS by its paper's own code, for scripts/compare: run it by a Python that has BoTorch, with the directory
of a checkout of github.com/sebtsh/bocvs.

Reads one job a line from the standard input and answers with the median execution, in microseconds of the
processor's time, of as many as fit into 50 ms (at least one):

    steps N     a step with N observations in three variables, seven control sets and hyperparameters given: the process
                made, the bound of each set maximised over its controlled variables, and one more observation. Numbers are
                the code's own: beta 2, expectations over 1024 samples, five climbs from the best of 100 random settings and
                four others (10,000 for the set of all variables)

It is written for GPyTorch 1.9, which computed of the covariances of points that are predicted what was asked for, the
variances: that is put back, since all of them do not fit into memory. Random variables have normal distributions of
variance 0.02, truncated to the range. The steps follow each other; from N + 20 observations on it begins anew. One thread.
"""

import sys
import time
import warnings

import torch
from gpytorch.distributions import MultivariateNormal
from gpytorch.kernels import RBFKernel, ScaleKernel
from gpytorch.likelihoods import GaussianLikelihood
from linear_operator.operators import DiagLinearOperator

from serve import serve

sys.dont_write_bytecode = True
torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
warnings.simplefilter("ignore")

sys.path.insert(0, sys.argv[1])
from core.acquisitions import UCB_CVS  # noqa: E402
from core.cvs import LinearSchedule, get_control_sets_and_costs  # noqa: E402
from core.dists import get_dists_and_samples  # noqa: E402
from core.optimization import ExactGPModel  # noqa: E402

NOISE_SD = 0.1


class Process(ExactGPModel):
    """of the points that are predicted the prior variances alone"""

    def _get_test_prior_mean_and_covariances(self, train_inputs, test_inputs, **_):
        (known,), (x,) = train_inputs, test_inputs
        return (self.mean_module(x), DiagLinearOperator(self.covar_module(x, diag=True)),
                self.covar_module(x, known).evaluate_kernel(), torch.Size(), x.shape[:1], MultivariateNormal)


def reading(x):
    """one of the smooth function at each setting"""
    return torch.sin(5 * x + torch.arange(3)).sum(-1, keepdim=True) + NOISE_SD * torch.randn(len(x), 1)


class Steps:
    """steps that follow each other, from n observations on; with 20 more it begins anew"""

    def __init__(self, n):
        torch.manual_seed(n)
        self.n = n
        self.kernel = ScaleKernel(RBFKernel(ard_num_dims=3))
        self.kernel.outputscale, self.kernel.base_kernel.lengthscale = 1.0, 0.3
        self.likelihood = GaussianLikelihood()
        self.likelihood.noise = NOISE_SD**2
        self.sets, self.others, self.costs = get_control_sets_and_costs(dims=3, control_sets_id=0, costs_id=1)
        _, self.samples = get_dists_and_samples(dims=3, variance=0.02)
        self.acquisition = UCB_CVS(beta=2.0)
        self.begin()

    def begin(self):
        self.x = torch.rand(self.n, 3)
        self.y = reading(self.x)

    def step(self):
        process = Process(self.x, torch.squeeze(self.y), self.kernel, self.likelihood)
        process.eval()
        at, controlled = self.acquisition.acquire(
            train_X=self.x, train_y=self.y, gp=process, control_sets=self.sets, random_sets=self.others,
            all_dists_samples=self.samples, bounds=torch.stack([torch.zeros(3), torch.ones(3)]),
            eps_schedule=LinearSchedule(0.0, 1), costs=self.costs)
        x = torch.rand(1, 3)
        x[:, self.sets[at]] = controlled
        self.x, self.y = torch.cat([self.x, x]), torch.cat([self.y, reading(x)])

    def timed(self):
        if len(self.x) >= self.n + 20:
            self.begin()
        start = time.process_time()
        self.step()
        return time.process_time() - start


if __name__ == "__main__":
    serve(lambda job, n: {"steps": Steps}[job](int(n)).timed)
