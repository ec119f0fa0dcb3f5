#!/usr/bin/env python3
"""Times `sto ingest` of a recording on 1, 2, 4, 8 and 16 cores, as far as the machine has them, and 16 ingests into
one store, at once and one after another.

    python3 benches/scaling.py FILE [STO]

Builds sto unless a program is given. Appends the figures to benches/results/scaling.md. Wall-clock times mean nothing on a busy
machine, so the section contains its load.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from session import append, build, heading, table

ROUNDS = 5
MANY = 16


def main():
    file = Path(sys.argv[1])
    sto = sys.argv[2] if len(sys.argv) > 2 else build() / "sto"
    cores = sorted(os.sched_getaffinity(0))
    counts = [count for count in (1, 2, 4, 8, 16) if count <= len(cores)]
    load = os.getloadavg()[0]
    # The first run fills the page cache.
    ingest(sto, file, cores)
    rounds = [{count: ingest(sto, file, cores[:count]) for count in counts} for _ in range(ROUNDS)]
    many = {at_once: [ingest(sto, file, cores, MANY, at_once) for _ in range(ROUNDS)] for at_once in (True, False)}

    rows = []
    one = statistics.median(times[1][0] for times in rounds)
    for count in counts:
        wall, used = medians(times[count] for times in rounds)
        # By Amdahl's law: wall = one * (serial + (1 - serial) / count)
        serial = f"{(wall / one - 1 / count) / (1 - 1 / count):.0%}" if count > 1 else ""
        rows.append([count, f"{wall:.2f}", f"{used:.2f}", f"{one / wall:.1f}", serial])
    size = f"{file.name}, {file.stat().st_size / 1e6:,.0f} MB"
    notes = [f"medians of {ROUNDS} rounds in turns; load before: {load:.1f}"]
    columns = ["cores", "wall (s)", "processor time (s)", "times one core", "serial part"]
    last = [
        f"- {MANY} ingests {how} into one store on {len(cores)} cores: {wall:.2f} s, {used:.2f} s of processor time"
        for how, (wall, used) in (("at once", medians(many[True])), ("one after another", medians(many[False])))
    ]
    append("scaling.md", [*heading(size, *notes), "", *table(columns, rows), "", *last])


def medians(times):
    """Returns the median wall-clock and processor time."""
    return [statistics.median(column) for column in zip(*times)]


def ingest(sto, file, cores, builds=1, at_once=True):
    """Ingests a file into a new store, as builds of different names. Returns wall-clock and processor time."""
    environment = {**os.environ, "RAYON_NUM_THREADS": str(len(cores))}
    with tempfile.TemporaryDirectory() as folder:
        command = ["taskset", "-c", ",".join(map(str, cores)), sto, "ingest", file, "--store", f"{folder}/store", "--build"]
        before, start = os.times(), time.monotonic()
        running = []
        for build in range(builds):
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            running.append(subprocess.Popen([*command, f"v{build}"], env=environment, **quiet))
            if not at_once:
                running[-1].wait()
        failed = [process for process in running if process.wait() != 0]
        wall, after = time.monotonic() - start, os.times()
    if failed:
        sys.exit(f"failed: {failed[0].args}")
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, used


if __name__ == "__main__":
    main()
