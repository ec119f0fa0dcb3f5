#!/usr/bin/env python3
"""Writes which normal form of two variables Extra-P finds of made-up points.

    pip install extrap==4.2.5
    python3 normal_form_of_two.py
"""
import json
import warnings

import numpy
from extrap.entities.callpath import Callpath
from extrap.entities.coordinate import Coordinate
from extrap.entities.measurement import Measurement
from extrap.entities.metric import Metric
from extrap.modelers.multi_parameter.multi_parameter_modeler import MultiParameterModeler

warnings.simplefilter("ignore")
chance = numpy.random.default_rng(20261124)


def exponents(term):
    """The power of a variable, and that of its logarithm."""
    power, log = 0.0, 0
    for simple in term.simple_terms:
        if simple.term_type == "polynomial":
            power = float(simple.exponent)
        else:
            log = int(simple.exponent)
    return [power, log]


def model(points):
    """The constant and the terms: the coefficient of each, and its exponents by variable."""
    groups = {}
    for *at, value in points:
        groups.setdefault(tuple(at), []).append(value)
    measurements = [Measurement(Coordinate(*at), Callpath("f"), Metric("time"), values)
                    for at, values in sorted(groups.items())]
    function = MultiParameterModeler().create_model(measurements).hypothesis.function
    terms = []
    for term in getattr(function, "compound_terms", []):
        own = [[0.0, 0], [0.0, 0]]
        for variable, of_variable in term.parameter_term_pairs:
            own[variable] = exponents(of_variable)
        terms.append([float(term.coefficient), own])
    constant = float(function.constant_coefficient)
    return {"points": points, "constant": constant, "terms": terms}


def cases():
    n, m = [10.0, 20, 40, 80, 160], [1.0, 2, 3, 4, 6, 8]
    grid = [(a, b) for a in n for b in m]
    # One line of each variable, and one point beside them.
    cross = [(a, 2.0) for a in n] + [(20.0, b) for b in m if b != 2.0] + [(160.0, 8.0)]
    shapes = [
        lambda a, b: 7.0,
        lambda a, b: 5 + 2 * a,
        lambda a, b: 5 + 3 * b * b,
        lambda a, b: 4 + 0.5 * a * b,
        lambda a, b: 4 + 2 * a + 9 * b,
        lambda a, b: 1 + 0.1 * a * a * b,
        lambda a, b: 2 + 3 * a + 0.5 * a * b * b,
        lambda a, b: 2 + 30 * b + 0.2 * a * numpy.log2(a) * b,
        lambda a, b: a * numpy.log2(a) * numpy.sqrt(b),
    ]
    for shape in shapes:
        for places in [grid, cross]:
            for runs, noise in [(1, 0.0), (3, 0.03)]:
                yield [[a, b, float(shape(a, b) * (chance.lognormal(0, noise) if noise else 1))]
                       for a, b in places for _ in range(runs)]


with open("normal_form_of_two.json", "w") as file:
    items = [json.dumps(model(points)) for points in cases()]
    file.write("[\n" + ",\n".join(items) + "\n]\n")
