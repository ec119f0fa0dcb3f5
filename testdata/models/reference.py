#!/usr/bin/env python3
"""Writes what numpy, scipy, pandas, statsmodels and scikit-learn make of made-up points.

    pip install numpy==2.4.6 scipy==1.17.1 pandas==3.1.1 statsmodels==0.15.0 scikit-learn==1.9.1 perun-toolsuite==0.28.3
    python3 reference.py
"""
import json
import math

import numpy
import pandas
import statsmodels.api as statsmodels
import statsmodels.nonparametric.api as smooth
from perun.check.methods import local_statistics
from scipy import integrate, optimize, stats
from statsmodels.tools.eval_measures import aicc

chance = numpy.random.default_rng(20261123)


def write(name, value):
    def plain(value):
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [plain(item) for item in value]
        if isinstance(value, numpy.ndarray):
            return plain(value.tolist())
        if isinstance(value, float) and not math.isfinite(value):
            return None
        return value.item() if isinstance(value, numpy.generic) else value

    with open(name, "w") as file:
        items = plain(value)
        file.write("[\n" + ",\n".join(json.dumps(item) for item in items) + "\n]\n")


# Formulas fitted by least squares.

def columns(kind, x):
    one = numpy.ones_like(x)
    return {
        "constant": lambda: [one],
        "logarithmic": lambda: [one, numpy.log(x)],
        "linear": lambda: [one, x],
        "linearithmic": lambda: [one, x * numpy.log(x)],
        "quadratic": lambda: [one, x, x**2],
        "cubic": lambda: [one, x, x**2, x**3],
    }[kind]()


def of_formula(n, rss, tss, weights, values, covariance):
    p = len(values)
    reach = stats.t.ppf(0.975, n - p) * numpy.sqrt(numpy.diag(covariance))
    likelihood = -n / 2 * (math.log(2 * math.pi * rss / n) + 1) + numpy.log(weights).sum() / 2
    r_square = 1 - rss / tss
    return {
        "coefficients": values,
        "low": values - reach,
        "high": values + reach,
        "r_square": r_square,
        "adjusted_r_square": 1 - (1 - r_square) * (n - 1) / (n - p),
        "aicc": aicc(likelihood, n, p + 1),
    }


def linear(kind, x, y, weights):
    design = numpy.column_stack(columns(kind, x))
    size = numpy.abs(design).max(axis=0)
    fit = statsmodels.WLS(y, design / size, weights).fit(method="qr")
    interval = fit.conf_int() / size[:, None]
    return {
        "coefficients": fit.params / size,
        "low": interval[:, 0],
        "high": interval[:, 1],
        "r_square": fit.rsquared if kind != "constant" else 0.0,
        "adjusted_r_square": fit.rsquared_adj if kind != "constant" else 0.0,
        "aicc": aicc(fit.llf, len(x), len(fit.params) + 1),
    }


def curved(kind, x, y, weights):
    """In the units of the middle of x, as curve_fit needs numbers near 1."""
    middle = numpy.exp(numpy.log(x).mean()) if kind == "power" else (x.min() + x.max()) / 2
    width = (x.max() - x.min()) / 2
    size = numpy.abs(y).max()
    if kind == "power":
        shape = lambda x, a, b: a * (x / middle) ** b
        start = numpy.polyfit(numpy.log(x / middle), numpy.log(numpy.maximum(y, size / 1e6)), 1)
    else:
        shape = lambda x, a, b: a * numpy.exp(b * (x - middle) / width)
        start = numpy.polyfit((x - middle) / width, numpy.log(numpy.maximum(y, size / 1e6)), 1)
    root = numpy.sqrt(weights) / size
    slope = numpy.log(x / middle) if kind == "power" else (x - middle) / width
    fitted = lambda x, a, b: shape(x, a * size, b) * root
    jacobian = lambda x, a, b: numpy.column_stack([shape(x, size, b) * root, shape(x, a * size, b) * slope * root])
    best, covariance = optimize.curve_fit(
        fitted, x, y * root, p0=[math.exp(start[1]) / size, start[0]], jac=jacobian,
        method="lm", maxfev=100000, ftol=1e-15, xtol=1e-15, gtol=1e-15)
    # curve_fit ends where the sum of squares changes no more, with half of the digits.
    gradient = lambda at: jacobian(x, *at).T @ (fitted(x, *at) - y * root)
    a, b = optimize.root(gradient, best, tol=1e-15).x
    assert numpy.allclose([a, b], best, rtol=1e-6)
    left, bent = y * root - fitted(x, a, b), jacobian(x, a, b)
    covariance = numpy.linalg.inv(bent.T @ bent) * (left @ left) / (len(x) - 2)
    a, covariance = a * size, covariance * numpy.array([[size**2, size], [size, 1]])
    if kind == "power":
        values = numpy.array([a * middle ** -b, b])
        jacobian = numpy.array([[middle ** -b, -math.log(middle) * values[0]], [0, 1]])
    else:
        rate = b / width
        values = numpy.array([a * math.exp(-rate * middle), math.exp(rate)])
        jacobian = numpy.array([[math.exp(-rate * middle), -middle / width * values[0]], [0, values[1] / width]])
    rss = (weights * (y - shape(x, a, b)) ** 2).sum()
    mean = (weights * y).sum() / weights.sum()
    tss = (weights * (y - mean) ** 2).sum()
    return of_formula(len(x), rss, tss, weights, values, jacobian @ covariance @ jacobian.T)


def regression_cases():
    sweep = numpy.array([1000.0, 2000, 4000, 8000, 16000, 32000, 64000])
    yield "a sweep of doubled sizes", sweep, 3e-6 * sweep**2 + 40 + chance.normal(0, 3, 7), None
    x = numpy.repeat(numpy.arange(1.0, 21), 3)
    yield "three runs of each size, n log n", x, 5 * x * numpy.log(x) + 20 + chance.normal(0, 4, 60), None
    x = chance.uniform(1, 500, 80)
    yield "logarithmic", x, 7 * numpy.log(x) + 2 + chance.normal(0, 0.5, 80), None
    x = chance.uniform(0.5, 30, 60)
    yield "power", x, 2 * x**1.7 * chance.lognormal(0, 0.05, 60), None
    x = chance.uniform(0.5, 30, 60)
    yield "falling", x, 50 * x**-0.6 + chance.normal(0, 1, 60), None
    x = numpy.linspace(1, 12, 50)
    yield "exponential", x, 3 * 1.5**x + chance.normal(0, 5, 50), None
    x = numpy.linspace(1, 60, 90)
    yield "cubic", x, 0.02 * x**3 - x**2 + 20 * x + 100 + chance.normal(0, 30, 90), None
    x = chance.uniform(1e12, 9e12, 50)
    yield "sizes of 10^12", x, 1e-9 * x + 3000 + chance.normal(0, 10, 50), None
    x = numpy.repeat(numpy.arange(1.0, 31), 2)
    y = (4 * x + 3) * chance.lognormal(0, 0.1, 60)
    yield "variance that grows", x, y, 1 / (4 * x + 3) ** 2


def regression():
    for name, x, y, weights in regression_cases():
        weights = numpy.ones_like(x) if weights is None else weights / weights.mean()
        kinds = {kind: linear(kind, x, y, weights) for kind in
                 ["constant", "logarithmic", "linear", "linearithmic", "quadratic", "cubic"]}
        kinds |= {kind: curved(kind, x, y, weights) for kind in ["power", "exponential"]}
        yield {"name": name, "x": x, "y": y, "weights": weights, "kinds": kinds}


write("regression.json", list(regression()))


# Detectors.

def detector_cases():
    for size, even in [(40, True), (41, True), (100, True), (60, False), (25, True)]:
        x = numpy.arange(size, dtype=float) if even else numpy.cumsum(chance.uniform(0.5, 2, size))
        baseline = 20 + x + chance.normal(0, 3, size)
        candidate = baseline * numpy.where(x > x[size // 2], 1.4, 1.05) + chance.normal(0, 2, size)
        yield x.round(2), baseline, candidate


def local():
    for x, baseline, candidate in detector_cases():
        before, _ = local_statistics.compute_window_stats(x, baseline)
        after, edges = local_statistics.compute_window_stats(x, candidate)
        results, errors = local_statistics.classify_stats_diff(before, after)
        yield {
            "x": x, "baseline": baseline, "candidate": candidate,
            "simpson": [integrate.simpson(y, x=x) for y in (baseline, candidate)],
            "parts": [[result.value, error, *edge] for result, error, edge in zip(results, errors, edges)],
            "error_rate": errors.sum() / errors.size,
        }


write("local_statistics.json", list(local()))


# Curves that are no formula.

RULES = {"sturges": "sturges", "scott": "scott", "doane": "doane", "freedman_diaconis": "fd", "square_root": "sqrt",
         "rice": "rice", "auto": "auto"}


def smoothed_points():
    x = numpy.sort(chance.gamma(4, 15, 150)).round(1)
    yield "skewed", x, 20 + 0.5 * x + 8 * numpy.sin(x / 9) + chance.normal(0, 2, 150)
    x = numpy.repeat(numpy.arange(1.0, 31), 4)
    yield "four of each x", x, x**1.5 + chance.normal(0, 6, 120)


def score(y, fitted):
    known = ~numpy.isnan(fitted)
    return 1 - ((y - fitted)[known] ** 2).sum() / ((y[known] - y[known].mean()) ** 2).sum()


def buckets():
    for name, x, y in smoothed_points():
        order = numpy.lexsort((y, x))
        x, y = x[order], y[order]
        case = {"name": name, "x": x, "y": y, "rules": {}}
        for rule, theirs in [*RULES.items(), ("number", 10)]:
            edges = numpy.histogram_bin_edges(x, theirs)
            found = {"edges": edges}
            for middle in ["mean", "median"]:
                values, _, number = stats.binned_statistic(x, y, middle, edges)
                found[middle] = values
                found[f"r_square_{middle}"] = score(y, values[number - 1])
            case["rules"][rule] = found
        yield case


def averages():
    for name, x, y in smoothed_points():
        order = numpy.lexsort((y, x))
        x, y = x[order], y[order]
        series = pandas.Series(y)
        windows = []
        for width in [1, 4, 7, 30, 300]:
            for centred in [False, True]:
                for least in [1, min(width, 4)]:
                    rolling = series.rolling(width, min_periods=least, center=centred)
                    windows.append({"width": width, "centred": centred, "least": least,
                                    "mean": rolling.mean().to_numpy(), "median": rolling.median().to_numpy()})
        decays = []
        for kind, value in [("span", 5), ("com", 3), ("halflife", 2.5), ("alpha", 0.3)]:
            decays.append({kind: value, "values": series.ewm(**{kind: value}).mean().to_numpy()})
        for found in windows:
            found["r_square"] = score(y, found["mean"])
        yield {"name": name, "x": x, "y": y, "windows": windows, "decays": decays}


SHAPES = {
    "gaussian": lambda z: numpy.exp(-z**2 / 2),
    "epanechnikov": lambda z: numpy.where(abs(z) <= 5**0.5, 1 - z**2 / 5, 0),
    "tricube": lambda z: numpy.where(abs(z) <= (243 / 35) ** 0.5, (1 - (abs(z) / (243 / 35) ** 0.5) ** 3) ** 3, 0),
    "quartic": lambda z: numpy.where(abs(z) <= 7**0.5, (1 - z**2 / 7) ** 2, 0),
    "gaussian4": lambda z: (3 - z**2) * numpy.exp(-z**2 / 2),
    "epanechnikov4": lambda z: numpy.where(abs(z) <= 1, 9 - 15 * z**2, 0),
}


def smoother(shape, estimator, x, width):
    """The matrix that makes fitted values of y."""
    distance = x[None, :] - x[:, None]
    weight = shape(distance / width)
    if estimator == "nadaraya_watson":
        return weight / weight.sum(axis=1, keepdims=True)
    zero, one, two = [(weight * distance**k).sum(axis=1, keepdims=True) for k in range(3)]
    return weight * (two - one * distance) / (zero * two - one**2)


def kernels():
    for name, x, y in smoothed_points():
        order = numpy.lexsort((y, x))
        x, y = x[order], y[order]
        case = {"name": name, "x": x, "y": y, "fits": [], "chosen": [],
                "scott": smooth.bandwidths.bw_scott(x), "silverman": smooth.bandwidths.bw_silverman(x)}
        for kernel, shape in SHAPES.items():
            for estimator, regression_type in [("nadaraya_watson", "lc"), ("local_linear", "ll")]:
                if kernel.endswith("4") and regression_type == "ll":
                    continue
                for width in [12.0, 25.0]:
                    matrix = smoother(shape, estimator, x, width)
                    fitted = matrix @ y
                    own = numpy.diag(matrix)
                    if kernel == "gaussian":
                        theirs = smooth.KernelReg(y, x, "c", regression_type, [width])
                        assert numpy.allclose(theirs.fit()[0], fitted, rtol=1e-9)
                        left_out = theirs.cv_loo(numpy.array([width]), theirs.est[regression_type])
                        assert math.isclose(float(numpy.squeeze(left_out)), (((y - fitted) / (1 - own)) ** 2).mean(), rel_tol=1e-9)
                    trace, variance = own.sum() / len(x), ((y - fitted) ** 2).mean()
                    hurvich = math.log(variance) + (1 + trace) / (1 - trace - 2 / len(x))
                    if kernel == "gaussian" and regression_type == "lc":
                        assert math.isclose(float(numpy.squeeze(theirs.aic_hurvich(numpy.array([width])))), hurvich, rel_tol=1e-9)
                    case["fits"].append({"kernel": kernel, "estimator": estimator, "width": width, "fitted": fitted,
                                         "r_square": score(y, fitted), "trace": own.sum(), "hurvich": hurvich,
                                         "cross_validation": (((y - fitted) / (1 - own)) ** 2).mean()})
        for rule, theirs in [("cross_validation", "cv_ls"), ("aicc", "aic")]:
            case["chosen"].append({"rule": rule, "width": float(smooth.KernelReg(y, x, "c", "lc", theirs).bw[0])})
        gammas = numpy.geomspace(1e-4, 1, 9)
        errors = []
        for gamma in gammas:
            matrix = smoother(lambda z: numpy.exp(-gamma * z**2), "nadaraya_watson", x, 1)
            errors.append((((y - matrix @ y) / (1 - numpy.diag(matrix))) ** 2).mean())
        case["gammas"], case["gamma"] = gammas, gammas[int(numpy.nanargmin(errors))]
        yield case


write("regressogram.json", list(buckets()))
write("moving_average.json", list(averages()))
write("kernel.json", list(kernels()))
