#!/usr/bin/env python3
"""Times `sto ingest` of one recording on 1, 2, 4, 8 and 16 cores, as far as the machine has them, and prints a
Markdown section with the machine and the date for benches/results/scaling.md.

    python3 benches/scaling.py STO FILE [--runs 5] [--ingests 16]

Wall-clock times mean nothing on a busy machine, so the load is part of the section.
"""

import argparse
import datetime
import os
import pathlib
import platform
import statistics
import subprocess
import tempfile
import time


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sto", help="a release build of sto")
    parser.add_argument("file", help="a recording")
    parser.add_argument("--runs", type=int, default=5, help="runs of each number of cores")
    parser.add_argument("--ingests", type=int, default=16, help="ingests at once into one store")
    args = parser.parse_args()
    allowed = sorted(os.sched_getaffinity(0))
    counts = [count for count in (1, 2, 4, 8, 16) if count <= len(allowed)]
    load = os.getloadavg()[0]
    # The first run fills the page cache.
    ingest(args, allowed, 1)
    rounds = [{count: ingest(args, allowed[:count], 1) for count in counts} for _ in range(args.runs)]
    together = [ingest(args, allowed, args.ingests)[0] for _ in range(args.runs)]

    version = subprocess.run([args.sto, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    size = os.path.getsize(args.file) / 1e6
    print(f"## {datetime.date.today()}, {os.path.basename(args.file)}, {size:,.0f} MB\n")
    print(f"- {version}; {processor()}, {len(allowed)} cores, Linux {platform.release()}; load before: {load:.1f}")
    print(f"- medians of {args.runs} rounds; the serial part by Amdahl's law from this row and one core\n")
    print("| cores | wall (s) | processor time (s) | times one core | serial part |")
    print("|---|---|---|---|---|")
    one = statistics.median(timed[1][0] for timed in rounds)
    for count in counts:
        wall, used = (statistics.median(column) for column in zip(*(timed[count] for timed in rounds)))
        # wall = one * (serial + (1 - serial) / count)
        serial = f"{(wall / one - 1 / count) / (1 - 1 / count):.0%}" if count > 1 else ""
        print(f"| {count} | {wall:.2f} | {used:.2f} | {one / wall:.1f} | {serial} |")
    print(f"\n{args.ingests} ingests at once into one store: {statistics.median(together):.2f} s.")


def ingest(args, cores, processes):
    """Ingests the file into a new store, with several builds at once. Returns wall-clock and processor time."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "RAYON_NUM_THREADS": str(len(cores))}
        command = ["taskset", "-c", ",".join(map(str, cores)), args.sto, "ingest", args.file, "--store", f"{folder}/store"]
        before, start = os.times(), time.monotonic()
        running = [
            subprocess.Popen([*command, "--build", f"v{build}"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for build in range(processes)
        ]
        failed = [process.args for process in running if process.wait() != 0]
        wall, after = time.monotonic() - start, os.times()
    if failed:
        raise SystemExit(f"failed: {failed[0]}")
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, used


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


if __name__ == "__main__":
    main()
