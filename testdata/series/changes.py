#!/usr/bin/env python3
"""Writes changes.json: series of several kinds, and where Apache Otava 0.8.0 finds changes in them.

    pip install apache-otava==0.8.0 scipy==1.16.3 && python3 changes.py

Otava takes standard deviations of whole populations for those of samples, which makes p too small in
short pieces; here its test is scipy's ttest_ind. Where it leaves a weak change out, it does not look
anew at the change before; here all that are left are tested again, until nothing more is left out.
"""
import json
import random

import numpy as np
from otava import analysis
from scipy.stats import ttest_ind


def compare(_self, left, right):
    p = float(ttest_ind(left, right).pvalue) if len(left) + len(right) > 2 else 1.0
    return analysis.TTestStats(
        mean_1=np.mean(left),
        mean_2=np.mean(right),
        std_1=np.std(left),
        std_2=np.std(right),
        pvalue=1.0 if np.isnan(p) else p,
    )


analysis.TTestSignificanceTester.compare = compare
chance = random.Random(20261121)


def noise(count, mean, deviation):
    return [round(chance.gauss(mean, deviation), 3) for _ in range(count)]


series = {
    "noise": noise(120, 100, 5),
    "step": noise(40, 100, 5) + noise(40, 115, 5),
    "short step": noise(6, 100, 2) + noise(6, 120, 2),
    "step back": noise(30, 100, 4) + noise(12, 130, 4) + noise(50, 100, 4),
    "old step of long ago": noise(25, 50, 3) + noise(175, 60, 3),
    "slow slide": [round(100 + 0.4 * i + chance.gauss(0, 4), 3) for i in range(100)],
    "variance alone": noise(50, 100, 1) + noise(50, 100, 15),
    "one outlier": noise(30, 100, 2) + [300.0] + noise(30, 100, 2),
    "stairs": sum((noise(20, 100 + 10 * step, 3) for step in range(6)), []),
    "three observations": [1.0, 1.1, 9.0],
}
cases = []
for name, values in series.items():
    found, _weak = analysis.compute_change_points(values, window_len=50, max_pvalue=0.001)
    tester = analysis.TTestSignificanceTester(0.001)
    before = None
    while before != len(found):
        before = len(found)
        intervals = tester.get_intervals(found)
        found = [tester.change_point(change.to_candidate(), values, intervals) for change in found]
        found = analysis.merge(found, values, 0.001, 0.0)
    places = [0] + [int(change.index) for change in found] + [len(values)]
    changes = []
    for start, at, end in zip(places, places[1:], places[2:]):
        left, right = values[start:at], values[at:end]
        p = float(ttest_ind(left, right).pvalue)
        changes.append({"at": at, "before": np.mean(left), "after": np.mean(right), "p": p})
    cases.append({"name": name, "series": values, "changes": changes})
with open("changes.json", "w", encoding="utf-8") as file:
    json.dump(cases, file, separators=(",", ":"))
    file.write("\n")
