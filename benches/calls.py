#!/usr/bin/env python3
"""Measures reading, compressing and storing a trace of calls, compared with the NonSequitur project's program.

    python3 benches/calls.py NONSEQUITUR [PYTHON]

NONSEQUITUR is a checkout of https://github.com/auggywonger/nonsequitur_vis, and PYTHON an interpreter with pandas and
tqdm. Writes a trace of 50 million calls of 28 threads (`call_trace`), and one of 1.4 million, which the project's
program also reads, without drawing it. Appends the figures to benches/results/calls.md. Needs 4 GB in TMPDIR.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from session import append, build, heading, run, table, verdict

LARGE, SMALL = 50_000_000, 1_400_000
REPEAT = 3
# The project's thresholds.
THRESHOLDS = ["--call-duration", "0.5%", "--call-gap", "0.1%", "--total-time", "2%"]

# Reads each file, removes functions without long calls, and compresses the rest.
PEER = """
import os, sys
sys.path.insert(0, sys.argv[1])
from traceFilter import filter_trace_file
from regtime_alg import regtime
records = 0
for name in sorted(os.listdir(sys.argv[2])):
    trace = filter_trace_file(os.path.join(sys.argv[2], name))
    records += len(regtime(trace))
print(records, "records")
"""


def measured(command, made=None):
    """Returns the wall time of the fastest of some runs in seconds, its processor time, the peak memory in MB, and the
    output. Removes created files before each run."""
    best, memory = None, 0
    for _ in range(REPEAT):
        if made:
            subprocess.run(["rm", "-rf", made], check=True)
        start = time.monotonic()
        child = subprocess.Popen(
            [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        printed = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            sys.exit(f"{command[0]} ended with status {child.returncode}")
        memory = max(memory, usage.ru_maxrss * 1024 / 1e6)
        if best is None or seconds < best[0]:
            best = seconds, usage.ru_utime + usage.ru_stime, printed
    return best[0], best[1], memory, best[2]


def main():
    project = Path(sys.argv[1]).resolve()
    python = sys.argv[2] if len(sys.argv) > 2 else sys.executable
    programs = build()
    with tempfile.TemporaryDirectory(prefix="sto-calls-") as work:
        work = Path(work)
        large, small = work / "large", work / "small"
        run(programs / "call_trace", large, LARGE)
        run(programs / "call_trace", small, SMALL)

        def ingest(trace, *options):
            store = ["--store", work / "store"]
            of_build = ["--exe", "app", "--build", "v1"]
            return measured([programs / "sto", *store, "ingest", trace, *of_build, *options], work / "store")

        load = os.getloadavg()[0]
        rows, speeds = [], []
        for what, trace, calls, (seconds, cpu, memory, printed) in [
            ("`sto ingest`", large, LARGE, ingest(large)),
            ("`sto ingest`", small, SMALL, ingest(small, *THRESHOLDS)),
            ("NonSequitur", small, SMALL, measured([python, "-c", PEER, project, small])),
        ]:
            records = int(re.search(r"([\d,]+) records", printed)[1].replace(",", ""))
            speeds.append(calls / seconds / 1e6)
            figures = [f"{calls:,}", f"{seconds:.2f}", f"{cpu:.2f}", f"{speeds[-1]:.2f}", f"{memory:,.0f}"]
            rows.append([what, *figures, f"{records:,}", f"{calls / records:,.0f}"])
        cores = os.cpu_count()
        of_cpu = LARGE / (float(rows[0][3]) / cores) / 1e6
        memory = float(rows[0][5])
        append(
            "calls.md",
            [
                *heading("a trace like the largest of table 2", f"load before it: {load:.1f}"),
                "",
                *table(
                    ["command", "calls", "s", "CPU s", "million calls/s", "peak MB", "records", "calls per record"],
                    rows,
                ),
                "",
                f"- `sto ingest` is {speeds[1] / speeds[2]:.0f} times as fast as NonSequitur on the smaller trace",
                verdict(
                    f"reading, compressing and storing on {cores} cores",
                    f"{speeds[0]:.1f} million calls/s, {of_cpu:.1f} if both do nothing else",
                    "10",
                    speeds[0] >= 10,
                ),
                verdict("memory", f"{memory:,.0f} MB", "256 MB", memory < 256),
            ],
        )


main()
