"""The jobs of a comparison: who takes part, and what is asked of gpcore."""

from dataclasses import dataclass, field

from parties import BoTorch, Go, OpenBLAS, Program, Python, Reference


@dataclass
class Target:
    """A bound on a figure of our own or, with a party, on that party's time over ours."""

    bound: float
    metric: str = "us"
    party: str = ""
    most: bool = False  # the figure may be at most the bound; else at least
    limit: float = 0  # asked of a processor whose multiply-adds reach this many GF/s; 0: of any


@dataclass
class Job:
    name: str
    n: int
    parties: list  # ours first
    targets: list
    quick: bool = False
    repeats: int = 15
    shown: dict = field(default_factory=dict)  # other metrics of ours to show: name -> unit


# The absolute times were set on a processor that reaches 130 GF/s.
REFERENCE = 130


def at_most(us):
    return Target(us, most=True, limit=REFERENCE)


def beside(party, ratio):
    return Target(ratio, party=party)


def quadratic(tier, n):
    parties = [Go("ours", f"Beside/quadratic/{tier}")]
    targets = [Target(90, "%peak")]
    if tier == "avx512":
        parties += [OpenBLAS("OpenBLAS dtrsm", "quadratic"), OpenBLAS("OpenBLAS dtrsm, SkylakeX kernels", "quadratic", "SKYLAKEX"),
                    OpenBLAS("OpenBLAS dtrsm, Zen kernels (AVX2)", "quadratic", "ZEN"), Go("gonum dtrsm", "Beside/quadratic/gonum")]
        targets += [beside("OpenBLAS dtrsm", 2), beside("OpenBLAS dtrsm, SkylakeX kernels", 2),
                    beside("OpenBLAS dtrsm, Zen kernels (AVX2)", 2), beside("gonum dtrsm", 9)]
    return Job(f"quadratic form of 504 candidates, {tier}", n, parties, targets, quick=n == 512,
               shown={"GF/s": "GF/s", "peak-GF/s": "GF/s peak"})


def replacing(n, us):
    return Job("replace, fused", n,
               [Go("ours", "Beside/replacing/ours"), Go("plain Go, L by Givens", "Beside/replacing/givens"),
                Go("the same, factor alone", "Beside/replacing/givens-factor")],
               [at_most(us), beside("plain Go, L by Givens", 6)], quick=n == 512,
               repeats=15 if n < 2048 else 3)  # the plain party takes long to set up


def appending(n):
    return Job("append", n, [Go("ours", "Beside/appending/ours"), Go("gonum ExtendVecSym", "Beside/appending/gonum")], [])


def refactorising(n):
    kernels = [OpenBLAS("OpenBLAS potrf+trtri", "refactorise"),
               OpenBLAS("the same, SkylakeX kernels", "refactorise", "SKYLAKEX"),
               OpenBLAS("the same, Zen kernels (AVX2)", "refactorise", "ZEN")]
    return Job("refactorise, with the inverse", n, [Go("ours", "Beside/refactorise/ours")] + kernels,
               [beside(k.name, 1.9) for k in kernels], quick=n == 512,
               repeats=15 if n < 2048 else 5)


def maximising(n, ratio):
    return Job("UCB update and maximisation, 3-D", n,
               [Go("ours", "Beside/deciding/ucb"), Python("scikit-learn", "sklearn")], [beside("scikit-learn", ratio)],
               quick=n == 100, repeats=7)


def choosing(d, n, ms, ratio):
    parties = [Go("ours", f"Beside/deciding/cvs-d={d}"), Python("plain numpy", f"numpy {d}"),
               Python("numpy with the samples' factor kept", f"factored {d}")]
    return Job(f"UCB-CVS decision, 7 sets, d={d}", n, parties, [at_most(1000 * ms), beside("plain numpy", ratio)],
               quick=(d, n) == (3, 100), repeats=7 if n < 500 else 3)


def stepping(n):
    """what a user gets, beside the whole decision of others"""
    def ours(path):
        return Go("ours", f"Beside/{path}", "./loop/policy")

    ucb = Job("UCB step through the policy, 3-D", n,
              [ours("irgp-ucb/steps"), Program("limbo", "limbo"), Program("BayesOpt", "bayesopt"), Python("scikit-learn", "sklearn")],
              [beside("limbo", 4), beside("scikit-learn", 25)], repeats=7)
    improvement = Job("EI step through the policy, 3-D", n, [ours("ei/steps"), BoTorch("BoTorch, LogEI", "steps")],
                      [beside("BoTorch, LogEI", 100)], repeats=3)
    fits = Job("EI step through the policy with fits, 3-D", n, [ours("ei/fits"), BoTorch("BoTorch, LogEI with a fit", "fits")],
               [beside("BoTorch, LogEI with a fit", 1000)], repeats=3)
    averse = Job("RAHBO step through the policy, 3-D", n, [ours("rahbo/steps"), Reference("the paper's code", "steps", "rahbo")], [],
                 repeats=3)
    averse_fits = Job("RAHBO step through the policy with fits, 3-D", n,
                      [ours("rahbo/fits"), Reference("the paper's code, with its fits", "fits", "rahbo")], [], repeats=3)
    subsets = Job("UCB-CVS step through the policy, 7 sets, 3-D", n,
                  [ours("ucb-cvs/steps"), Reference("the paper's code", "steps", "bocvs")], [], repeats=3)
    return [ucb, improvement, fits, averse, averse_fits, subsets]


JOBS = (
    [quadratic(tier, n) for n in (256, 512, 1024) for tier in ("avx512", "avx2")]
    + [Job("squared exponential with mean, d=3", 256, [Go("ours", "Beside/pairs/ours"), Go("math.Exp alone", "Beside/pairs/math")],
           [Target(0.35, "ns/pair", most=True, limit=REFERENCE), beside("math.Exp alone", 15)], quick=True,
           shown={"ns/pair": "ns a pair"})]
    + [replacing(n, us) for n, us in ((256, 8), (512, 28), (1024, 110), (2048, 750))]
    + [appending(n) for n in (256, 512, 1024)]
    + [refactorising(n) for n in (256, 512, 1024, 2048)]
    + [maximising(n, ratio) for n, ratio in ((100, 60), (500, 25), (1000, 28))]
    + [choosing(3, 100, 1.2, 400), choosing(3, 500, 20, 240), choosing(5, 100, 3.2, 400), choosing(5, 500, 42, 240)]
    + stepping(100) + stepping(500)
    + [Job("RAHBO decision, two processes, 2-D", 150, [Go("ours", "Beside/deciding/rahbo")], [at_most(400)], quick=True),
       Job("RAHBO decision with all noises re-estimated", 150, [Go("ours", "Beside/deciding/rahbo-noises")], [])]
)
