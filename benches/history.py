#!/usr/bin/env python3
"""Measures queries of many runs over time, and their growth with the number of runs.

    python3 benches/history.py --profiles 1000

Fills stores with an eighth, a quarter, a half and all of the profiles, with 30,000 nodes each and ten
per build, and runs the queries of a history: each command from its start to its exit, and the parts
within one process. Appends the figures to benches/results/history.md and draws
benches/results/history.svg. Needs cargo. As root it also empties the page cache.
"""

import argparse
import csv
import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import plot
from comparison import empty_page_cache
from session import RESULTS, append, build, heading, run, table, verdict

NODES = 30_000
# Nodes of the profile for potentials.
LARGE = 1_000_000
REPEAT = 5


def fill(programs, store, *options):
    """Fills a store. Returns the rows of store_growth for each profile, and the total seconds."""
    start = time.monotonic()
    rows = csv.DictReader(run(programs / "store_growth", store, *options).splitlines())
    return list(rows), time.monotonic() - start


def commands(programs, store):
    """Returns the commands by name, which query the function with the tenth largest total."""
    sto = [programs / "sto", "--store", store]
    runs = json.loads(run(*sto, "runs", "--format", "json"))["runs"]
    newest = runs[-1]["build"]
    top = json.loads(run(*sto, "top", newest, "-n", 1000, "--format", "json"))["functions"]
    top.sort(key=lambda function: -function["total"]["samples"])
    function = top[9]["function"]
    return {
        "runs": [*sto, "runs"],
        "where": [*sto, "where", function],
        "series": [*sto, "series", function],
        "regressions-over-time": [*sto, "regressions-over-time"],
        "bottlenecks": [*sto, "bottlenecks", "--metric", "seconds"],
        "bottlenecks --by total": [*sto, "bottlenecks", "--metric", "seconds", "--by", "total"],
        "expand": [*sto, "expand", function],
        "expand --direction callees": [*sto, "expand", function, "--direction", "callees"],
        "potential --degree 10": [*sto, "potential", newest, "--degree", "10"],
        "report": [*sto, "report", "-o", Path(store) / "report.html"],
    }


def seconds(command):
    """Returns the seconds from the start of a command to its end."""
    start = time.monotonic()
    words = [str(word) for word in command]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def medians(commands):
    return {
        name: statistics.median(seconds(command) for _ in range(REPEAT))
        for name, command in commands.items()
    }


def parts(programs, store, *options):
    words = [programs / "history_questions", store, "--repeat", REPEAT, *options]
    return list(csv.DictReader(run(*words).splitlines()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profiles", type=int, default=1_000)
    profiles = parser.parse_args().profiles
    programs = build()
    growth = {}
    with tempfile.TemporaryDirectory(prefix="sto-bench.") as folder:
        folder = Path(folder)
        for count in [profiles // 8, profiles // 4, profiles // 2, profiles]:
            store = folder / str(count)
            options = ["--profiles", count, "--builds", -(-count // 10), "--nodes", NODES]
            filled, filling = fill(programs, store, *options)
            asked = commands(programs, store)
            growth[count] = medians(asked)
        nodes = sum(int(row["nodes"]) for row in filled)
        adding = sum(float(row["seconds"]) for row in filled)
        memory = max(int(row["peak_memory_bytes"]) for row in filled)
        lines = [
            f"- {profiles:,} profiles with {nodes:,} nodes were generated and stored in"
            f" {filling / 60:.1f} minutes, {adding / 60:.1f} of them for storing; peak memory"
            f" was {memory / 2**20:,.0f} MiB, and the file has"
            f" {int(filled[-1]['file_bytes']) / 1e6:,.1f} MB",
            "",
        ]
        cold = {}
        for name, command in asked.items():
            if empty_page_cache():
                cold[name] = f"{seconds(command):.2f}"
        rows = [
            [f"`sto {name}`", *(f"{growth[count][name]:.3f}" for count in growth), cold.get(name, "")]
            for name in asked
        ]
        columns = ["median of seconds, start to exit", *(f"{count:,} profiles" for count in growth)]
        lines += [*table([*columns, "page cache emptied (once)"], rows), ""]

        large = folder / "large"
        fill(programs, large, "--profiles", 1, "--nodes", LARGE)
        rows = parts(programs, store) + parts(programs, large, "--potentials")
        cells = [
            [
                row["question"],
                f"{int(row['size']):,}",
                *(f"{float(row[key]) * 1e3:,.1f}" for key in ("fastest", "middle")),
            ]
            for row in rows
        ]
        columns = ["part", "nodes", "fastest (ms)", "median (ms)"]
        lines += [*table(columns, cells), ""]

    middle = {row["question"]: float(row["middle"]) for row in rows}
    slowest = max(growth[profiles], key=growth[profiles].get)
    most = growth[profiles][slowest]
    first = next(iter(growth))
    steepest = max(growth[profiles][name] / growth[first][name] for name in asked)
    series, potentials = middle["series"], middle["potentials of degree 10"]
    lines += [
        verdict(f"the slowest command, `sto {slowest}`", f"{most:.2f} s", "1 s", most <= 1),
        verdict("a series, loaded", f"{series * 1e3:.0f} ms", "200 ms", series <= 0.2),
        verdict(
            f"potentials of degree 10 over {LARGE:,} nodes, loaded",
            f"{potentials * 1e3:.0f} ms",
            "100 ms",
            potentials <= 0.1,
        ),
        verdict(
            f"the steepest growth from {first:,} to {profiles:,} profiles",
            f"{steepest:.1f} times",
            f"linear, {profiles // first} times",
            steepest <= profiles // first,
        ),
    ]
    names = ["series", "regressions-over-time", "bottlenecks", "report"]
    drawing = plot.scatter(
        "Questions about a history, start to exit",
        "profiles in the store",
        f"seconds (median of {REPEAT})",
        {f"sto {name}": [(count, growth[count][name]) for count in growth] for name in names},
    )
    (RESULTS / "history.svg").write_text(drawing)
    title = f"{profiles:,} profiles of {NODES:,} nodes"
    append("history.md", heading(title) + lines)


if __name__ == "__main__":
    main()
