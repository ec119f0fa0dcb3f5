#!/usr/bin/env python3
"""Measures models of 19 million points of 25 functions, compared with numpy, pandas and statsmodels.

    pip install numpy pandas statsmodels && python3 benches/models.py

Functions have from 3 to 3,290,469 points, like in table 6.2 of the description of Perun's models; x is the size of a structure,
and y a time that depends on it, with noise. Peers make one model of the same points: regression is the least squares of the six
kinds that are linear in their coefficients, without the two others. Kernel regression of statsmodels takes n² steps, so it is
measured on 5,000 points and extrapolated quadratically. Appends the figures to benches/results/models.md.
"""

import importlib.metadata
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy
import pandas
from statsmodels.nonparametric.kernel_regression import KernelReg

from session import append, build, heading, run, table, verdict

LARGEST, ALL, FUNCTIONS = 3_290_469, 19_342_775, 25
FEW = 5_000


def functions(chance):
    """Returns the number of points of each function: they fall from the largest to 3, and add up to the total."""
    low, high = 0.0, 20.0
    for _ in range(60):
        fall = (low + high) / 2
        counts = numpy.maximum(3, LARGEST * (1 - numpy.arange(FUNCTIONS) / (FUNCTIONS - 1)) ** fall).astype(int)
        low, high = (fall, high) if counts.sum() > ALL else (low, fall)
    shapes = [lambda x: 40 + 0 * x, lambda x: 10 + 0.3 * x, lambda x: 5 * numpy.log(x), lambda x: 0.01 * x * x + 20,
              lambda x: x * numpy.log(x)]
    for number, count in enumerate(counts):
        x = numpy.ceil(chance.gamma(2.0, 2_000.0, count))
        yield x, shapes[number % len(shapes)](x) * chance.lognormal(0, 0.3, count)


def by_lstsq(x, y):
    one, log = numpy.ones_like(x), numpy.log(x)
    for columns in [[one], [one, log], [one, x], [one, x * log], [one, x, x**2], [one, x, x**2, x**3]]:
        numpy.linalg.lstsq(numpy.column_stack(columns), y, rcond=None)


def by_histogram(x, y):
    edges = numpy.histogram_bin_edges(x, "doane")
    count = numpy.histogram(x, edges)[0]
    return numpy.histogram(x, edges, weights=y)[0] / numpy.maximum(count, 1)


def by_kernel(x, y):
    KernelReg(y, x, "c", reg_type="lc", bw=[1.059 * x.std() * len(x) ** -0.2]).fit()


PEERS = {
    "points, sorted": ("numpy lexsort", lambda x, y: numpy.lexsort((y, x))),
    "regression": ("numpy lstsq", by_lstsq),
    "regressogram, mean": ("numpy histogram", by_histogram),
    "moving average of 4": ("pandas", lambda x, y: pandas.Series(y).rolling(4, center=True, min_periods=1).mean()),
    "moving median of 4": ("pandas", lambda x, y: pandas.Series(y).rolling(4, center=True, min_periods=1).median()),
    "exponential average": ("pandas", lambda x, y: pandas.Series(y).ewm(span=4).mean()),
    "kernel, Gaussian, Scott": ("statsmodels, said", by_kernel),
}


def peer(name, points):
    work = PEERS[name][1]
    if work is by_kernel:
        x, y = (of[:FEW] for of in points[0])
        start = time.perf_counter()
        work(x, y)
        return (time.perf_counter() - start) * sum((len(x) / FEW) ** 2 for x, _ in points)
    start = time.perf_counter()
    for x, y in points:
        work(x, y)
    return time.perf_counter() - start


def main():
    models = build() / "models"
    points = list(functions(numpy.random.default_rng(20261123)))
    with tempfile.TemporaryDirectory(prefix="sto-models-") as work:
        files = []
        for number, pair in enumerate(points):
            files.append(Path(work, f"{number}.f64"))
            numpy.concatenate(pair).astype("<f8").tofile(files[-1])
        figures = json.loads(run(models, *files))
    rows, verdicts = [], []
    for name, clock, processor, r_square in figures:
        who, theirs = "", ""
        if name in PEERS:
            seconds = peer(name, points)
            who, theirs = f"{PEERS[name][0]} {seconds:,.2f} s", f"{seconds / clock:,.1f}"
        said = "" if r_square is None else f"{r_square:.3f}"
        rows.append([name, f"{clock:.3f}", f"{processor:.3f}", said, who, theirs])
        if name != "points, sorted":
            verdicts.append(verdict(name, f"{clock:.3f} s", "1 s", clock <= 1))
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ["numpy", "pandas", "statsmodels"])
    count = sum(len(x) for x, _ in points)
    append(
        "models.md",
        [
            *heading(f"{count:,} points over {FUNCTIONS} functions", versions, *sys.argv[1:]),
            "",
            *table(["what", "s", "s of processor", "mean R²", "peer", "times as fast"], rows),
            "",
            *verdicts,
        ],
    )


if __name__ == "__main__":
    main()
