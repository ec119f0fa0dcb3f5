#!/usr/bin/env python3
"""Writes warp.json: pairs of series, and what dtaidistance and dtw-python make of them.

    pip install dtaidistance==2.5.1 dtw-python==1.9.0 && python3 warp.py

dtaidistance has a band between the diagonals of both ends, and dtw-python one of |i - j|: they are asked with a
band where lengths are equal, where these are sto's. Of different lengths, dtw-python is given sto's as a function.
"""
import json
import random

import numpy
from dtaidistance import dtw as dtaidistance
from dtw import dtw as dtw_python

chance = random.Random(20261122)
BANDS = [None, 1, 3, 10]


def steps(count):
    level, values = 0.0, []
    for _ in range(count):
        level += chance.gauss(0, 1)
        values.append(round(level, 3))
    return values


def noise(count):
    return [round(chance.gauss(5, 2), 3) for _ in range(count)]


def levels(count):
    return [float(chance.randrange(4)) for _ in range(count)]


def error(a, b, pairs):
    return float(sum(abs(a[i] - b[j]) for i, j in pairs))


def python(a, b, band):
    longer = max(len(a), len(b))

    def within(i, j, query_size, reference_size):
        return abs(j * (query_size - 1) - i * (reference_size - 1)) <= band * (longer - 1)

    options = {}
    if band is not None:
        options = {"window_type": within}
        if len(a) == len(b):
            options = {"window_type": "sakoechiba", "window_args": {"window_size": band}}
    found = dtw_python(a, b, dist_method="cityblock", step_pattern="symmetric1", **options)
    pairs = list(zip(found.index1.tolist(), found.index2.tolist()))
    return [float(found.distance), error(a, b, pairs)]


def c(a, b, band):
    if band is not None and len(a) != len(b):
        return None
    options = {"inner_dist": "euclidean", "window": None if band is None else band + 1}
    # `warping_path_fast` takes squares of differences whatever `inner_dist` says.
    pairs = dtaidistance.best_path(dtaidistance.warping_paths_fast(a, b, **options)[1])
    return [float(dtaidistance.distance_fast(a, b, **options)), error(a, b, pairs)]


cases = []
for make in [steps, noise, levels]:
    for lengths in [(40, 40), (61, 61), (30, 50), (73, 41), (2, 25), (90, 88)]:
        a, b = (numpy.array(make(count)) for count in lengths)
        answers = [
            {"band": band, "dtw_python": python(a, b, band), "dtaidistance": c(a, b, band)} for band in BANDS
        ]
        cases.append({"series": make.__name__, "a": a.tolist(), "b": b.tolist(), "answers": answers})

with open("warp.json", "w") as file:
    rows = ",\n".join(json.dumps(case) for case in cases)
    file.write(f"[\n{rows}\n]\n")
