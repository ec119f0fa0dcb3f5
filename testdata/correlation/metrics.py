#!/usr/bin/env python3
"""Writes metrics.csv: made-up metrics over time; and metrics.json: what scipy, numpy and dtw-python make of them.

    pip install scipy==1.17.1 numpy==2.4.6 dtw-python==1.9.0 && python3 metrics.py
"""
import json

import numpy as np
from dtw import dtw
from scipy.stats import pearsonr, spearmanr, zscore

POINTS, SEGMENTS = 240, 4
PATTERN = [(0, 1), (60, 1), (80, 5), (200, 2)]
chance = np.random.default_rng(20261122)
time = np.arange(POINTS) * 0.5
steps = np.where(time < 30, 1.0, np.where(time < 75, 5.0, 5.0 - (time - 75) / 15))
noise = lambda much: chance.normal(0, much, POINTS)
columns = {
    "target": steps + noise(0.4),
    "follows": np.roll(steps, 6) * 3 + noise(1),
    "against": 1e-7 * (20 - steps + noise(0.3)),
    "curved": np.exp(steps) + noise(2),
    "walk": np.cumsum(noise(1)),
    "noise": 1e6 + noise(100),
}
columns = {name: np.round(values, 12) for name, values in columns.items()}


def error(x, y):
    return float(np.sum((y - np.polyval(np.polyfit(x, y, 1), x)) ** 2))


def boundaries(y):
    """Greedy from above: of all segments and places, what leaves the least error, with two points a segment at least."""
    cuts = [0, len(y)]
    while len(cuts) <= SEGMENTS:
        best = None
        for start, end in zip(cuts, cuts[1:]):
            whole = error(time[start:end], y[start:end]) if end - start > 2 else 0
            for at in range(start + 2, end - 1):
                gain = whole - error(time[start:at], y[start:at]) - error(time[at:end], y[at:end])
                if best is None or gain > best[0]:
                    best = (gain, at)
        cuts = sorted([*cuts, best[1]])
    return cuts


def scores(name):
    x, y = zscore(columns[name]), zscore(columns["target"])
    inverse = lambda distance: 1 / min(distance(x), distance(-x))
    band = dict(window_type="sakoechiba", window_args={"window_size": POINTS // 10})
    warped = lambda x: dtw(x, y, step_pattern="symmetric1", dist_method="cityblock", **band).distance
    cuts, own = boundaries(y), boundaries(x)
    pattern = np.interp(time, *zip(*PATTERN))
    shifts = range(POINTS // 20, POINTS - POINTS // 20 + 1)
    r = abs(pearsonr(x, y).statistic)
    as_good = sum(abs(pearsonr(x, np.roll(y, -shift)).statistic) >= r for shift in shifts)
    crossed = {lag: abs(np.sum(x[max(0, -lag) : POINTS - max(0, lag)] * y[max(0, lag) : POINTS + min(0, lag)]))
               for lag in range(-POINTS // 10, POINTS // 10 + 1)}
    return {
        "scores": {
            "pearson": r,
            "spearman": abs(spearmanr(x, y).statistic),
            "euclidean": inverse(lambda x: np.linalg.norm(x - y)),
            "manhattan": inverse(lambda x: np.abs(x - y).sum()),
            "dtw": inverse(warped),
            "same-splits": 1 / sum(error(time[a:b], x[a:b]) for a, b in zip(cuts, cuts[1:])),
            "best-splits": 1 / sum(abs(time[a] - time[b]) for a, b in zip(cuts[1:-1], own[1:-1])),
            "linear-pattern": abs(pearsonr(x, pattern).statistic),
        },
        "p": (1 + as_good) / (1 + len(shifts)),
        "lag": max(crossed, key=crossed.get) * 0.5,
    }


with open("metrics.csv", "w", encoding="utf-8") as file:
    file.write(",".join(["time", *columns]) + "\n")
    for row in zip(time.tolist(), *(values.tolist() for values in columns.values())):
        file.write(",".join(map(repr, row)) + "\n")
with open("metrics.json", "w", encoding="utf-8") as file:
    found = {name: scores(name) for name in columns if name != "target"}
    json.dump({"splits": SEGMENTS, "pattern": PATTERN, "metrics": found}, file, indent=1, default=float)
    file.write("\n")
