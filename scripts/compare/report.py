"""The table of a comparison."""

from math import floor
from statistics import median


def middle(samples, metric="us"):
    return median(s[metric] for s in samples)


def ratio(ours, theirs):
    """median over neighbouring samples of their time over ours"""
    return median(t["us"] / o["us"] for o, t in zip(ours, theirs))


def times(r):
    """a ratio, rounded down, so that none looks like the bound it misses"""
    return f"{floor(r)}x" if r >= 100 else f"{floor(100 * r) / 100:g}x"


def figure(us):
    if us >= 1e6:
        return f"{us / 1e6:.3g} s"
    if us >= 1000:
        return f"{us / 1000:.3g} ms"
    return f"{us:.3g} us"


def verdict(target, value, peak):
    met = value <= target.bound if target.most else value >= target.bound
    if met:
        return "met"
    if target.limit and peak and peak < 0.9 * target.limit:
        return f"not met; asked where the peak is {target.limit} GF/s"
    return "**missed**"


def bound(target):
    sign = "<=" if target.most else ">="
    if target.party:
        return f"{sign} {target.bound:g}x"
    return f"{sign} " + (figure(target.bound) if target.metric == "us" else f"{target.bound:g} {target.metric}")


def rows(job, samples, peak):
    """the cells of a job: our own figures with their targets, then each other party"""
    ours = samples.get("ours")
    if not ours:
        return [(job.name, job.n, "not in this commit or not on this processor", "", "", "", "")]
    own = ", ".join([figure(middle(ours))] + [f"{middle(ours, m):.3g} {unit}" for m, unit in job.shown.items()])
    lines = []
    for t in job.targets:
        if not t.party:
            value = middle(ours, t.metric)
            lines.append(("", "" if t.metric == "us" else f"{value:.3g} {t.metric}", bound(t), verdict(t, value, peak)))
    asked = {t.party: t for t in job.targets if t.party}
    for party in [p for p in samples if p != "ours"]:
        r, t = ratio(ours, samples[party]), asked.get(party)
        lines.append((f"{party}: {figure(middle(samples[party]))}", times(r), bound(t) if t else "",
                      verdict(t, r, peak) if t else ""))
    lines = lines or [("", "", "", "")]
    return [((job.name, job.n, own) if i == 0 else ("", "", "")) + line for i, line in enumerate(lines)]


def table(results, facts):
    peaks = [middle(s["ours"], "peak-GF/s") for j, s in results if s.get("ours") and "peak-GF/s" in s["ours"][0]]
    peak = max(peaks, default=0)
    lines = ["| job | n | ours | beside | ratio | target | |", "|---|---|---|---|---|---|---|"]
    for job, samples in results:
        lines += ["| " + " | ".join(map(str, cells)) + " |" for cells in rows(job, samples, peak)]
    about = [f"{name}: {value}" for name, value in facts.items()]
    if peak:
        about.append(f"peak of multiply-adds between registers in this run: {peak:.0f} GF/s")
    return "\n".join(lines + [""] + about)
