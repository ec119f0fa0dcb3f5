#!/usr/bin/env python3
"""Measures dynamic time warping, compared with dtaidistance (in C) and dtw-python.

    pip install numpy dtaidistance dtw-python && python3 benches/warp.py

Aligns seeded random walks by the same cost, |x - y|, and checks that all find the same error. Each measurement
is a separate process on one core; the fastest repetition counts, in wall time and processor time. Appends the
figures to benches/results/warp.md.
"""

import importlib.metadata
import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from session import REPOSITORY, append, heading, run, table, verdict

REPEAT = 5
BAND = 1_000


def dtaidistance(a, b, band, with_path):
    from dtaidistance import dtw

    options = {"inner_dist": "euclidean", "window": band and band + 1}
    if not with_path:
        return dtw.distance_fast(a, b, **options)
    error, table = dtw.warping_paths_fast(a, b, **options)
    dtw.best_path(table)
    return error


def dtaidistance_of_squares(a, b, band, with_path):
    """The only path of dtaidistance that does not need a table of all cells; its cost is squared."""
    from dtaidistance import dtw

    return dtw.warping_path_fast(a, b, window=band + 1, include_distance=True)[1]


def dtw_python(a, b, band, with_path):
    from dtw import dtw

    options = {"dist_method": "cityblock", "step_pattern": "symmetric1", "distance_only": not with_path}
    return dtw(a, b, **options).distance


PEERS = {peer.__name__: peer for peer in [dtaidistance, dtaidistance_of_squares, dtw_python]}


def measure_peer(name, files, band, with_path):
    """Runs in a separate process, and prints the same output as the program `warp`."""
    import numpy

    a, b = (numpy.loadtxt(file) for file in files)
    clock = processor = float("inf")
    for _ in range(REPEAT):
        start = time.perf_counter(), time.process_time()
        error = float(PEERS[name](a, b, band, with_path))
        clock = min(clock, time.perf_counter() - start[0])
        processor = min(processor, time.process_time() - start[1])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    print(json.dumps([error, clock, processor, memory]))


def walk(chance, points, file):
    level, lines = 0.0, []
    for _ in range(points):
        level += chance.gauss(0, 1)
        lines.append(repr(level))
    file.write_text("\n".join(lines) + "\n")
    return file


def main():
    run("cargo", "build", "--release", "--locked", "-p", "sto-benches", "--bin", "warp", cwd=REPOSITORY)
    metadata = run("cargo", "metadata", "--format-version", "1", "--no-deps", cwd=REPOSITORY)
    warp = Path(json.loads(metadata)["target_directory"]) / "release/warp"
    chance = random.Random(20261122)
    rows, verdicts = [], []
    with tempfile.TemporaryDirectory(prefix="sto-warp-") as work:
        for points, band, with_path, goal, peers in [
            (10_000, None, True, 0.3, ["dtaidistance", "dtw_python"]),
            (10_000, None, False, None, ["dtaidistance", "dtw_python"]),
            (65_536, BAND, True, 1.0, ["dtaidistance_of_squares"]),
            (65_536, BAND, False, None, ["dtaidistance"]),
        ]:
            files = [walk(chance, points, Path(work, name)) for name in "ab"]
            options = (["--path"] if with_path else []) + (["--band", band] if band else [])
            sto = json.loads(run(warp, *files, *options, "--repeat", REPEAT))
            what = f"{points:,} points, {f'band {band:,}' if band else 'all cells'}, {'path' if with_path else 'error'}"
            figures = {"sto": sto}
            for peer in peers:
                asked = json.dumps([peer, list(map(str, files)), band, with_path])
                figures[peer] = json.loads(run(sys.executable, __file__, asked).splitlines()[-1])
                error = figures[peer][0]
                assert "squares" in peer or abs(error - sto[0]) <= 1e-9 * error, (what, peer, error, sto)
            for who, (_, clock, processor, memory) in figures.items():
                ratio = f"{processor / sto[2]:.1f}"
                rows.append([what, who, f"{clock:.3f}", f"{processor:.3f}", f"{memory:,.0f}", ratio])
            if goal:
                verdicts.append(verdict(what, f"{sto[1]:.3f} s", f"{goal} s", sto[1] <= goal))
            if points == 10_000 and with_path:
                verdicts.append(verdict(f"{what}, memory", f"{sto[3]:.0f} MB", "64 MB", sto[3] < 64))
            slowest = min(figures[peer][2] for peer in peers) / sto[2]
            verdicts.append(verdict(f"{what}, to the faster peer", f"{slowest:.1f} times as fast", "1", slowest > 1))
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ["dtaidistance", "dtw-python"])
    append(
        "warp.md",
        [
            *heading("random walks", versions, f"fastest of {REPEAT}, on a machine that others used at the time"),
            "",
            *table(["what", "by", "s", "s of processor", "peak memory (MB)", "times sto"], rows),
            "",
            *verdicts,
        ],
    )


if len(sys.argv) > 1:
    measure_peer(*json.loads(sys.argv[1]))
else:
    main()
