#!/usr/bin/env python3
"""Writes correlation.json: pairs of columns, and what scipy makes of them.

    pip install scipy==1.16.3 && python3 correlation.py
"""
import json
import random

from scipy.stats import pearsonr, spearmanr

chance = random.Random(20261121)


def pair(count, slope, noise, digits=3):
    x = [round(chance.gauss(100, 10), digits) for _ in range(count)]
    return x, [round(slope * value + chance.gauss(0, noise), digits) for value in x]


cases = []
for name, (x, y) in {
    "strong": pair(20, 2.0, 3.0),
    "weak": pair(30, 0.2, 10.0),
    "negative": pair(12, -1.0, 5.0),
    "none": pair(50, 0.0, 1.0),
    "many equal": pair(25, 1.0, 8.0, -1),
    "four pairs": pair(4, 1.0, 3.0),
    "three pairs": pair(3, 1.0, 3.0),
}.items():
    pearson, spearman = pearsonr(x, y), spearmanr(x, y)
    interval = pearson.confidence_interval(0.95)
    cases.append(
        {
            "name": name,
            "x": x,
            "y": y,
            "pearson": [float(pearson.statistic), float(pearson.pvalue)],
            "spearman": [float(spearman.statistic), float(spearman.pvalue)],
            "interval": [float(interval.low), float(interval.high)],
        }
    )
with open("correlation.json", "w", encoding="utf-8") as file:
    json.dump(cases, file, separators=(",", ":"))
    file.write("\n")
