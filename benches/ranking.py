#!/usr/bin/env python3
"""Measures ranking 2,000 metrics of 10,000 points by all eight correlators.

    python3 benches/ranking.py

The metrics are seeded random walks mixed with a share of the target. Measures the whole `sto correlate`, including
reading the table (165 MB of CSV), and uses the fastest repetition. Appends the figures to benches/results/ranking.md.
"""

import random
import resource
import subprocess
import tempfile
import time
from pathlib import Path

from session import append, build, heading, table, verdict

REPEAT = 5
METRICS, POINTS = 2_000, 10_000
GOAL = 5.0


def write_table(path):
    chance = random.Random(20261122)

    def walk(share, along):
        level, values = 0.0, []
        for other in along:
            level += chance.gauss(0, 1)
            values.append(share * other + (1 - share) * level)
        return values

    target = walk(0, [0.0] * POINTS)
    columns = [range(POINTS), target, *(walk(chance.random(), target) for _ in range(METRICS))]
    with path.open("w") as file:
        print("time", "target", *(f"m{ix}" for ix in range(METRICS)), sep=",", file=file)
        for row in zip(*columns):
            print(row[0], *(f"{value:.4f}" for value in row[1:]), sep=",", file=file)


def measured(*command):
    """Returns the wall time and the processor time in seconds."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
    clock, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    sto = build() / "sto"
    with tempfile.TemporaryDirectory(prefix="sto-ranking-") as work:
        file = Path(work, "metrics.csv")
        write_table(file)
        pattern = f"0:0,{POINTS // 2}:5,{POINTS}:1"
        ask = [sto, "correlate", "--series", file, "--target", "target", "--pattern", pattern]
        clock, processor = min(measured(*ask) for _ in range(REPEAT))
    rows = [[f"{METRICS:,} metrics of {POINTS:,} points", f"{clock:.2f}", f"{processor:.2f}"]]
    append(
        "ranking.md",
        [
            *heading("random walks", f"fastest of {REPEAT}, with reading {METRICS + 2:,} columns of CSV"),
            "",
            *table(["what", "s", "s of processor"], rows),
            "",
            verdict("ranking by all eight correlators", f"{clock:.2f} s", f"{GOAL} s", clock <= GOAL),
        ],
    )


main()
