#!/usr/bin/env python3
"""Writes which normal form Extra-P finds of made-up points.

    pip install extrap==4.2.5
    python3 normal_form.py
"""
import json
import warnings

import numpy
from extrap.entities.coordinate import Coordinate
from extrap.entities.measurement import Measurement
from extrap.entities.callpath import Callpath
from extrap.entities.metric import Metric
from extrap.modelers.single_parameter.basic import SingleParameterModeler

warnings.simplefilter("ignore")
chance = numpy.random.default_rng(20261123)


def model(x, y):
    """The exponents of the term, if there is one, and its coefficients."""
    groups = {}
    for at, value in zip(x, y):
        groups.setdefault(at, []).append(value)
    measurements = [Measurement(Coordinate(at), Callpath("f"), Metric("time"), values)
                    for at, values in sorted(groups.items())]
    function = SingleParameterModeler().create_model(measurements).hypothesis.function
    found = {"x": list(x), "y": list(y), "constant": float(function.constant_coefficient), "term": None}
    for compound in getattr(function, "compound_terms", []):
        power, log = 0.0, 0
        for simple in compound.simple_terms:
            if simple.term_type == "polynomial":
                power = float(simple.exponent)
            else:
                log = int(simple.exponent)
        found["term"] = [float(compound.coefficient), power, log]
    return found


def cases():
    sweep = numpy.array([1000.0 * 2**k for k in range(7)])
    shapes = {
        "constant": lambda x: 50 + 0 * x,
        "logarithm": lambda x: 10 + 8 * numpy.log2(x),
        "line": lambda x: 20 + 0.05 * x,
        "n log n": lambda x: 0.02 * x * numpy.log2(x),
        "square": lambda x: 20 + 3e-5 * x**2,
        "root": lambda x: numpy.sqrt(x),
        "power 1.5": lambda x: 5 + 0.01 * x**1.5,
        "cube": lambda x: 3 + x**3,
    }
    for name, shape in shapes.items():
        for runs in [1, 3]:
            # Extra-P solves in units of x: cubes of large ones are too much for it.
            x = numpy.repeat(sweep / 1000 if name == "cube" else sweep, runs)
            for noise in [0.0, 0.05]:
                yield x, shape(x) * chance.lognormal(0, noise, len(x)) if noise else shape(x)
    x = numpy.array([0.25, 0.5, 1, 2, 4, 8, 16])
    yield x, 3 + 2 * x * chance.lognormal(0, 0.02, len(x))
    yield numpy.arange(1.0, 9), numpy.array([0.0, 1, 4, 9, 16, 25, 36, 49])


with open("normal_form.json", "w") as file:
    items = [json.dumps(model(x.tolist(), y.tolist())) for x, y in cases()]
    file.write("[\n" + ",\n".join(items) + "\n]\n")
