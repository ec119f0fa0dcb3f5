#!/usr/bin/env python3
"""Measures reading text and pprof, compared with other programs that read the same.

    python3 benches/formats.py FILE.perf.data

Derives the inputs from a recording: the output of `perf script`, the folded stacks that inferno makes
of it, and a pprof profile, the last two repeated until they are large. Appends the figures to
benches/results/formats.md. Needs cargo, perf, inferno-collapse-perf (cargo install --locked inferno)
and Go's pprof, and about 2 GB in TMPDIR.
"""

import gzip
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from session import append, build, heading, run, table, varint, verdict

FOLDED_BYTES = 1_000_000_000
PPROF_BYTES = 100_000_000
REPEAT = 3


def measured(command, stdout=subprocess.DEVNULL, **env):
    """Returns the median seconds of a command, and its peak memory in MB."""
    seconds, memory = [], []
    for _ in range(REPEAT):
        start = time.monotonic()
        child = subprocess.Popen(
            [str(word) for word in command],
            stdout=stdout,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **env},
        )
        _, status, usage = os.wait4(child.pid, 0)
        seconds.append(time.monotonic() - start)
        memory.append(usage.ru_maxrss * 1024 / 1e6)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            sys.exit(f"{command[0]} ended with status {child.returncode}")
    return statistics.median(seconds), max(memory)


def repeat_samples(profile, size):
    """Returns a pprof profile with its samples (field 2) repeated."""
    samples, rest = bytearray(), bytearray()
    place = 0
    while place < len(profile):
        start = place
        tag, place = varint(profile, place)
        if tag & 7 == 2:
            length, place = varint(profile, place)
            place += length
        else:
            _, place = varint(profile, place)
        (samples if tag >> 3 == 2 else rest).extend(profile[start:place])
    return bytes(samples) * max(1, (size - len(rest)) // len(samples)) + bytes(rest)


def inputs(sto, recording, work):
    """Writes the input files: text of perf script, folded stacks, pprof."""
    script, folded, pprof = work / "script.txt", work / "large.folded", work / "large.pb"
    with open(script, "wb") as file:
        command = ["perf", "script", "--no-inline", "-i", recording]
        subprocess.run(command, check=True, stdout=file, stderr=subprocess.DEVNULL)
    once = subprocess.run(["inferno-collapse-perf", script], check=True, stdout=subprocess.PIPE)
    with open(folded, "wb") as file:
        for _ in range(FOLDED_BYTES // len(once.stdout)):
            file.write(once.stdout)
    run(sto, "export", recording, "--format", "pprof", "-o", work / "once.pb")
    profile = (work / "once.pb").read_bytes()
    if profile[:2] == b"\x1f\x8b":
        profile = gzip.decompress(profile)
    pprof.write_bytes(repeat_samples(profile, PPROF_BYTES))
    return script, folded, pprof


def main():
    recording = Path(sys.argv[1]).resolve()
    sto = build() / "sto"
    with tempfile.TemporaryDirectory(prefix="sto-formats-") as work:
        work = Path(work)
        script, folded, pprof = inputs(sto, recording, work)

        def ingest(file, **env):
            store = work / "store"
            subprocess.run(["rm", "-rf", store], check=True)
            os.environ["STO_STORE"] = str(store)
            return measured([sto, "ingest", file, "--exe", "app", "--build", "v1"], **env)

        one_core = {"RAYON_NUM_THREADS": "1"}
        rows, of = [], {}
        for what, file, got in [
            ("`sto ingest`", script, ingest(script)),
            ("`inferno-collapse-perf`", script, measured(["inferno-collapse-perf", script])),
            ("`sto ingest`, one thread", folded, ingest(folded, **one_core)),
            ("`inferno-flamegraph`", folded, measured(["inferno-flamegraph", folded])),
            ("`sto ingest`", pprof, ingest(pprof)),
            ("`go tool pprof -top`", pprof, measured(["go", "tool", "pprof", "-top", pprof])),
        ]:
            size = file.stat().st_size / 1e6
            of[what, file] = got[0]
            rows.append([what, file.name, f"{size:,.0f}", f"{got[0]:.2f}", f"{size / got[0]:,.0f}", f"{got[1]:,.0f}"])
        inferno = of["`inferno-collapse-perf`", script] / of["`sto ingest`", script]
        folded_speed = folded.stat().st_size / 1e6 / of["`sto ingest`, one thread", folded]
        versions = re.search(r"perf version \S+", run("perf", "--version")).group()
        append(
            "formats.md",
            [
                *heading(f"inputs made of {recording.name}", f"{versions}, {run('go', 'version').strip()}"),
                "",
                *table(["command", "input", "MB", "median s", "MB/s", "peak memory (MB)"], rows),
                "",
                verdict("perf script text, to inferno", f"{inferno:.1f} times as fast", "2", inferno >= 2),
                verdict("folded text, one core", f"{folded_speed:,.0f} MB/s", "200 MB/s", folded_speed >= 200),
            ],
        )


main()
