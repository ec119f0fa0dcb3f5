#!/usr/bin/env python3
"""Measures the shipped queries of a dataset of Parquet files, by the number of its rows.

    python3 benches/lake.py FOLDER [--profiles 1000 10000 100000] [--spark 10000]

Writes datasets of these numbers of runs with 10,000 stacks each to FOLDER, unless they exist, in the layout of `sto export
--format parquet`: half of the runs are of the queried program, and a tenth of these of each of ten builds. DuckDB, DataFusion
and Spark, a cluster of two workers, run every query of `sto sql --examples` twice on each dataset; the second time counts,
unless the first took 20 seconds. Appends the figures to benches/results/lake.md. Needs PyPI's numpy, pyarrow, duckdb,
datafusion and pyspark, a JDK, and 14 GB.
"""

import argparse
import hashlib
import json
import multiprocessing
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy
import pyarrow
import pyarrow.parquet

from session import REPOSITORY, append, heading, table

sys.path.append(str(REPOSITORY / "sto-query/tests/engines"))
import engines

STACKS = 10_000
FUNCTIONS = 600
BUILDS = 10
PROGRAMS = ["demo", "other"]
QUESTIONS = REPOSITORY / "sto-query/lake/src/lake/questions"


class Program:
    """Returns the stacks of all runs, callers before callees, with their average costs."""

    def __init__(self):
        choose = random.Random(1)
        parents, depths, functions = [-1], [0], [0]
        while len(parents) < STACKS:
            caller = int(len(parents) * choose.random() ** 0.5)
            if depths[caller] < 40:
                parents.append(caller)
                depths.append(depths[caller] + 1)
                functions.append(int(FUNCTIONS * choose.random() ** 2))
        self.levels = [numpy.flatnonzero(numpy.array(depths) == depth) for depth in range(max(depths), 0, -1)]
        self.parents = numpy.array(parents)
        self.functions = numpy.array(functions, dtype=numpy.int32)
        self.means = numpy.random.default_rng(1).exponential(2, STACKS)
        above = [set() for _ in parents]
        for stack, caller in enumerate(parents):
            if caller >= 0:
                above[stack] = above[caller] | {functions[caller]}
        outermost = [function not in callers for function, callers in zip(functions, above)]
        names = ["parse"] + [f"crate{f % 23}::module{f % 91}::Type::function_{f}" for f in range(1, FUNCTIONS)]
        text = pyarrow.array
        self.columns = {
            "stack": text(numpy.arange(STACKS)),
            "caller": pyarrow.array([None if caller < 0 else caller for caller in parents], pyarrow.int64()),
            "outermost": text(outermost),
            "function": self.of_function(names),
            "other_symbol": self.of_function([f"{name}::h{hashlib.md5(name.encode()).hexdigest()[:16]}" for name in names]),
            "module": self.of_function([f"lib{f % 7}.so" for f in range(FUNCTIONS)]),
            "file": self.of_function([f"src/module{f % 91}.rs" for f in range(FUNCTIONS)]),
            "line": pyarrow.nulls(STACKS, pyarrow.int64()),
            "kind": self.of_function(["user"] * FUNCTIONS),
        }

    def of_function(self, values):
        return pyarrow.DictionaryArray.from_arrays(pyarrow.array(self.functions), pyarrow.array(values))

    def sample(self, run, of_run):
        samples = numpy.random.default_rng(run).poisson(self.means)
        totals = samples.copy()
        for level in self.levels:
            totals += numpy.bincount(self.parents[level], weights=totals[level], minlength=STACKS).astype(numpy.int64)
        one = lambda value: pyarrow.DictionaryArray.from_arrays(numpy.zeros(STACKS, numpy.int32), pyarrow.array([value]))
        return {
            "profile": one(of_run),
            "executable_id": one("0" * 32),
            "event": one("cycles"),
            "self": pyarrow.array(samples * 1_000_000),
            "total": pyarrow.array(totals * 1_000_000),
            "samples": pyarrow.array(samples),
            "total_samples": pyarrow.array(totals),
            **self.columns,
        }


def write(folder, runs):
    program = Program()
    for run in runs:
        of_run = hashlib.md5(str(run).encode()).hexdigest()
        executable, build = PROGRAMS[run % 2], f"v{run // 2 % BUILDS + 1}"
        place = f"executable={executable}/build={build}/{of_run}.parquet"
        record = json.dumps({"build": {}, "profile": {"of": of_run}})
        profile = {"id": [of_run], "event": ["cycles"], "recorded": [1_700_000_000 + run], "record": [record]}
        for name, columns in [("sample", program.sample(run, of_run)), ("profile", profile)]:
            path = folder / name / place
            path.parent.mkdir(parents=True, exist_ok=True)
            pyarrow.parquet.write_table(
                pyarrow.table(columns),
                path,
                compression="zstd",
                write_statistics=False,
                column_encoding={"stack": "DELTA_BINARY_PACKED", "caller": "DELTA_BINARY_PACKED"},
                use_dictionary=[name for name in columns if name not in ("stack", "caller")],
            )


def made(folder, profiles):
    """Writes runs on every core, unless they exist. Returns the bytes per row."""
    if not folder.exists():
        cores = os.cpu_count()
        new = folder.with_suffix(".new")
        shares = [(new, range(core, profiles, cores)) for core in range(cores)]
        with multiprocessing.get_context("fork").Pool(cores) as pool:
            pool.starmap(write, shares)
        new.rename(folder)
    size = int(subprocess.run(["du", "-sb", folder / "sample"], capture_output=True, text=True).stdout.split()[0])
    return size / (profiles * STACKS)


def seconds(dataset, sql):
    """Returns the second time, or the first if it is long."""
    for _ in range(2):
        start = time.perf_counter()
        dataset.rows(sql)
        took = time.perf_counter() - start
        if took > 20:
            break
    return took


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--profiles", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    arguments.add_argument("--spark", type=int, default=10_000, help="ask Spark up to this many")
    asked = arguments.parse_args()
    questions = {path.stem: path.read_text() for path in sorted(QUESTIONS.glob("*.sql"))}
    # The result of `counts` is meant for a file, so its rows are not passed to Python.
    questions["counts"] = f"SELECT count(*), sum(total_samples) FROM ({questions['counts']}) counts"
    rows = []
    for profiles in asked.profiles:
        folder = asked.folder / str(profiles)
        bytes_a_row = made(folder, profiles)
        for name in ["duckdb", "datafusion", "spark"]:
            if name == "spark" and profiles > asked.spark:
                continue
            with engines.engine(name) as of_folder:
                start = time.perf_counter()
                dataset = of_folder(folder)
                opened = time.perf_counter() - start
                times = {question: seconds(dataset, sql) for question, sql in questions.items()}
            cells = [f"{times[question]:.2f}" for question in questions]
            rows.append([f"{profiles * STACKS:,}", f"{bytes_a_row:.1f}", name, f"{opened:.2f}", *cells])
            print(rows[-1], flush=True)
    columns = ["rows", "bytes a row", "engine", "open (s)", *(f"`{question}` (s)" for question in questions)]
    title = heading("questions to a dataset", f"runs of {STACKS:,} stacks, half of them of the program that is asked about")
    append("lake.md", [*title, "", *table(columns, rows)])


if __name__ == "__main__":
    main()
