#!/usr/bin/env python3
"""Writes pandas' moving averages with the window functions of scipy.

    pip install numpy==2.4.6 scipy==1.17.1 pandas==3.1.1
    python3 window_functions.py
"""
import json

import numpy
import pandas

FUNCTIONS = {
    "boxcar": {}, "triang": {}, "bartlett": {}, "barthann": {}, "parzen": {}, "bohman": {}, "cosine": {}, "lanczos": {},
    "hann": {}, "hamming": {}, "blackman": {}, "nuttall": {}, "blackmanharris": {}, "flattop": {},
    "gaussian": {"std": 1.7}, "exponential": {"tau": 2.5}, "kaiser": {"beta": 5.0}, "tukey": {"alpha": 0.4},
}

y = numpy.random.default_rng(20261128).normal(20, 5, 24).round(2)
series = pandas.Series(y)
cases = []
for function, options in FUNCTIONS.items():
    # scipy's `exponential` takes its centre before tau.
    name = function if not options else {function: list(options.values())[0]}
    for width, centred, least in [(1, True, 1), (6, True, 1), (7, False, 1), (7, True, 5), (60, True, 3)]:
        rolling = series.rolling(width, min_periods=least, center=centred, win_type=function)
        values = rolling.mean(**options).to_numpy()
        cases.append({"function": name, "width": width, "centred": centred, "least": least,
                      "mean": [None if numpy.isnan(value) else value for value in values.tolist()]})
with open("window_functions.json", "w") as file:
    rows = ",\n".join(json.dumps(case) for case in cases)
    file.write(f'{{"y": {json.dumps(y.tolist())}, "cases": [\n{rows}\n]}}\n')
