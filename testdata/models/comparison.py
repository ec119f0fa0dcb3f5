#!/usr/bin/env python3
"""Writes two sets of points, and what integral comparison and local statistics find in four kinds of curves of them.

The definitions are those of S. Stupinsky, New Models for Automatic Detection of Performance Degradation (2019),
sections 4.2 to 5.2: curves by numpy, scipy and pandas, areas by Simpson's rule, and a part of x for each twentieth of the
values, of at least two values.

    pip install numpy==2.4.6 scipy==1.17.1 pandas==3.1.1
    python3 comparison.py
"""
import json

import numpy
import pandas
from scipy import integrate, stats

chance = numpy.random.default_rng(20261128)
x = {"baseline": numpy.linspace(1, 60, 60), "candidate": numpy.linspace(1, 60, 24)}
y = {
    "baseline": 30 + 2 * x["baseline"] + chance.normal(0, 4, 60),
    "candidate": (30 + 2 * x["candidate"]) * numpy.where(x["candidate"] > 40, 1.5, 1) + chance.normal(0, 4, 24),
}
y = {side: values.round(2) for side, values in y.items()}


def regressogram():
    """The candidate's regressogram is unified: it gets the number of buckets of the baseline's."""
    edges = numpy.histogram_bin_edges(x["baseline"], "doane")
    values = [stats.binned_statistic(x[side], y[side], "mean", len(edges) - 1)[0] for side in x]
    areas = [(numpy.diff(edges) * of).sum() for of in values]
    return areas, (edges[:-1] + edges[1:]) / 2, values, (edges[:-1], edges[1:])


def sampled(smooth):
    """Curves with a value at each point are interpolated at the x of the baseline."""
    values = [smooth(x[side], y[side]) for side in x]
    areas = [integrate.simpson(of, x=at) for of, at in zip(values, x.values())]
    at = x["baseline"]
    return areas, at, [numpy.interp(at, of, values) for of, values in zip(x.values(), values)], (at, at)


def moving_average(x, y):
    return pandas.Series(y).rolling(5, center=True, min_periods=1).mean().to_numpy()


def kernel(x, y):
    """Nadaraya-Watson with a Gaussian kernel and Scott's bandwidth."""
    spread = min(x.std(ddof=1), stats.iqr(x) / 1.349)
    width = 1.059 * spread * len(x) ** -0.2
    weights = numpy.exp(-(((x[:, None] - x[None, :]) / width) ** 2) / 2)
    return weights @ y / weights.sum(axis=1)


def linear():
    lines = [numpy.polynomial.Polynomial.fit(x[side], y[side], 1) for side in x]
    areas = [integrate.quad(line, 1, 60)[0] for line in lines]
    at = numpy.linspace(1, 60, 1000)
    return areas, at, [line(at) for line in lines], (at, at)


def statistics(x, y):
    area = integrate.simpson(y, x=x) if len(x) > 1 else 0
    return numpy.array([area, y.mean(), numpy.median(y), y.max(), y.min(), y.sum(), *numpy.percentile(y, [25, 75])])


def classify(size, possible, certain):
    """Algorithm 2 of the thesis."""
    words = ["optimisation", "degradation"]
    if abs(size) <= possible:
        return "no_change"
    return ("" if abs(size) > certain else "maybe_") + words[int(size > 0)]


def local_statistics(x, baseline, candidate, starts, ends):
    part = max(2, len(x) // 20)
    for start in range(0, len(x), part):
        at = slice(start, start + part)
        before, after = statistics(x[at], baseline[at]), statistics(x[at], candidate[at])
        errors = numpy.divide(after - before, abs(before), out=numpy.zeros(8), where=before != 0)
        score = sum((abs(errors) > 0.1) * numpy.sign(errors) * numpy.where(abs(errors) > 0.25, 1, 0.5))
        yield {"result": classify(score, 1.6, 4), "error_rate": errors.mean(), "x_start": starts[at][0], "x_end": ends[at][-1]}


found = {}
for kind, (areas, at, curves, ends) in {
    "regressogram": regressogram(), "moving-average": sampled(moving_average), "kernel": sampled(kernel), "linear": linear(),
}.items():
    parts = list(local_statistics(at, *curves, *ends))
    error = numpy.mean([part["error_rate"] for part in parts])
    found[kind] = {
        "integral_comparison": areas[1] / areas[0] - 1, "local_statistics": error,
        "result": classify(error, 0.1, 0.25), "parts": parts,
    }
for side in x:
    with open(f"comparison_{side}.csv", "w") as file:
        file.write("x,y\n" + "".join(f"{at},{value}\n" for at, value in zip(x[side].tolist(), y[side].tolist())))
with open("comparison.json", "w") as file:
    rows = ",\n".join(f"{json.dumps(kind)}: {json.dumps(of)}" for kind, of in found.items())
    file.write("{\n" + rows + "\n}\n")
