#!/usr/bin/env python3
"""Checks that RegTime compresses traces like the NonSequitur project's Python.

    python3 benches/regtime.py NONSEQUITUR

NONSEQUITUR is a checkout of that project; its Python needs `tqdm`. Compares its example trace and seeded traces at its
thresholds: the total time of each function in each thread, and the expressions, stack by stack. Accounts for the differences in
sto-core/model/src/trace/regtime.md: functions without time are removed first, and stacks are compared in one order. Appends the
figures to benches/results/regtime.md.
"""

import contextlib
import importlib
import io
import json
import random
import subprocess
import sys
import tempfile
import types
from collections import Counter
from pathlib import Path

from session import append, build, heading, table, verdict

THRESHOLDS = ["--call-duration", "0.5%", "--call-gap", "0.1%", "--total-time", "2%"]
SEEDS = 20


def project(checkout):
    """Returns the checkout's functions that read and compress a trace."""
    sys.path.insert(0, str(checkout))
    # The checkout imports these modules, but does not use them here.
    sys.modules.setdefault("pandas", types.ModuleType("pandas"))
    read = importlib.import_module("traceFilter").filter_trace_file
    return read, importlib.import_module("regtime_alg").regtime


def generated(folder, seed):
    """Returns threads of nested calls, a few of them long, with a few gaps."""
    chance = random.Random(seed)
    for thread in range(chance.randint(1, 4)):
        now, lines = chance.randrange(1 << 40), []

        def call(depth):
            nonlocal now
            function = f"f{chance.randrange(12)}"
            lines.append(f"0 {function} {now}")
            now += chance.randint(1, 60)
            while depth < 6 and chance.random() < 0.45:
                call(depth + 1)
                now += chance.randint(1, 40)
            now += chance.randint(1, 60) if chance.random() < 0.995 else chance.randrange(40_000)
            lines.append(f"1 {function} {now}")

        for _ in range(chance.randint(1, 3000)):
            call(0)
            now += chance.randint(1, 50) if chance.random() < 0.995 else chance.randrange(20_000)
        Path(folder, f"trace_{seed}_{thread}.txt").write_text("\n".join(lines) + "\n")


def without_timeless(file, folder):
    """Returns the trace without functions whose calls took no time, because their program omits these."""
    took, open_calls = Counter(), []
    lines = [line.split() for line in file.read_text().splitlines()]
    for kind, function, at in lines:
        if kind == "0":
            open_calls.append(int(at))
        else:
            took[function] += int(at) - open_calls.pop()
    kept = (" ".join(line) for line in lines if took[line[1]])
    Path(folder, file.name).write_text("\n".join(kept) + "\n")


def theirs(read, compress, file):
    """Returns (records, time of each function, expressions as (start, end, stacks)) from their Python."""
    with contextlib.redirect_stderr(io.StringIO()):
        events = compress(read(str(file)))
    first = events[0]["start_time"]
    times, expressions, stack = Counter(), [], []
    current = None
    for event in events:
        kind, function = event["event_type"], event["function"]
        if kind == "<<":
            stack.pop()
        else:
            times[function] += event["duration"]
            path = (*stack, function)
            if current is None and event["parens"] < 0:
                current = (event["start_time"] - first, event["end_time"] - first, Counter())
            if current:
                current[2][path] += event["duration"]
            elif kind == "" and event["parens"] == 0:
                # A call without callees: a long call, or an expression of one stack, which has no brackets.
                single = (event["start_time"] - first, event["end_time"] - first, Counter({path: event["duration"]}))
                expressions.append((*single, "single"))
            if kind == ">>":
                stack.append(function)
        if event["parens"] > 0:
            expressions.append((*current, "many"))
            current = None
    records = sum(event["event_type"] != "<<" for event in events)
    return records, times, expressions


def ours(sto, folder):
    """Returns the same from sto, by the thread's name."""
    command = [sto, "timeline", folder, *THRESHOLDS, "--format", "json"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    threads = {}
    for thread in answer["threads"]:
        first, times, expressions = thread["start_ns"], Counter(), []
        for expression in thread["expressions"]:
            stacks = Counter({tuple(of["frames"]): of["duration_ns"] for of in expression["stacks"]})
            for frames, duration in stacks.items():
                times[frames[-1]] += duration
            expressions.append((expression["start_ns"] - first, expression["end_ns"] - first, stacks))
        long_calls = []
        for call in thread["long_calls"]:
            times[call["frames"][-1]] += call["end_ns"] - call["start_ns"]
            long_calls.append((call["start_ns"] - first, call["end_ns"] - first, tuple(call["frames"])))
        threads[thread["name"]] = (thread["records"], times, expressions, long_calls)
    return threads


def differences(mine, other):
    """Returns the differences of a thread."""
    records, times, expressions, long_calls = mine
    their_records, their_times, their_expressions = other
    long_calls = Counter(long_calls)
    alike = []
    for start, end, stacks, kind in their_expressions:
        if kind == "single":
            call = (start, end, next(iter(stacks)))
            if long_calls[call]:
                long_calls[call] -= 1
                continue
        alike.append((start, end, stacks))
    found = []
    if times != their_times:
        found.append("times")
    if sorted(expressions, key=lambda of: of[:2]) != sorted(alike, key=lambda of: of[:2]):
        found.append("expressions")
    if records != their_records:
        found.append(f"records {records} {their_records}")
    return found


def main():
    checkout = Path(sys.argv[1]).resolve()
    read, compress = project(checkout)
    sto = build() / "sto"
    rows, failed = [], []
    with tempfile.TemporaryDirectory(prefix="sto-regtime-") as work:
        traces = [("its example", sorted((checkout / "example_trace").glob("*.txt")))]
        for seed in range(SEEDS):
            folder = Path(work, f"seed{seed}")
            folder.mkdir()
            generated(folder, seed)
            traces.append((f"generated, seed {seed}", sorted(folder.iterdir())))
        sums = Counter()
        for number, (name, files) in enumerate(traces):
            folder = Path(work, f"kept{number}")
            folder.mkdir()
            for file in files:
                without_timeless(file, folder)
            files = sorted(folder.iterdir())
            mine = ours(sto, folder)
            their = {file.stem: theirs(read, compress, file) for file in files}
            found = {thread: differences(mine[thread], other) for thread, other in their.items()}
            failed += [f"{name}, {thread}: {', '.join(of)}" for thread, of in found.items() if of]
            calls = sum(sum(line.startswith("0") for line in file.open()) for file in files)
            part = "its example" if number == 0 else f"{SEEDS} generated"
            sums[part, "threads"] += len(files)
            sums[part, "calls"] += calls
            sums[part, "expressions"] += sum(len(of[2]) for of in mine.values())
            sums[part, "records"] += sum(of[0] for of in mine.values())
            sums[part, "different"] += sum(bool(of) for of in found.values())
    parts = ("its example", f"{SEEDS} generated")
    for part in parts:
        of = {key: value for (of_part, key), value in sums.items() if of_part == part}
        row = [of[key] for key in ("threads", "calls", "expressions", "records", "different")]
        rows.append([part, *(f"{value:,}" for value in row)])
    print(*failed, sep="\n")
    columns = ["traces", "threads", "calls", "expressions", "records", "threads that differ"]
    different = sum(sums[part, "different"] for part in parts)
    append(
        "regtime.md",
        [
            *heading("the NonSequitur project's Python", "thresholds of 0.5 %, 0.1 % and 2 %"),
            "",
            *table(columns, rows),
            "",
            verdict("threads that differ", different, 0, not failed),
        ],
    )


if __name__ == "__main__":
    main()
