#!/usr/bin/env python3
"""Measures comparing two large builds, and the design document's SQL on the same sums.

    python3 benches/comparison.py

Fills a store with 10 generated runs of each of two builds, a million nodes per build, compares them
with `sto find-regressions`, and puts one sum per build into PostgreSQL, which runs the document's
query; appends the figures to benches/results/comparison.md. Needs cargo and Debian's postgresql-15
(it starts a separate server). As root it also empties the page cache. It takes about ten minutes and
3 GB in TMPDIR.
"""

import csv
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import postgres
from session import append, build, heading, run, table, verdict

RUNS = 10
# Nodes of one run; ten runs of a build have a million.
NODES = 640_000
FUNCTIONS = 40_000
BUILDS = ["v00000", "v00001"]
REPEAT = 9

SAMPLES = """
coalesce(sum(sample_count) FILTER (WHERE version = 1), 0) AS old,
coalesce(sum(sample_count) FILTER (WHERE version = 2), 0) AS new"""

# Samples of each location in both builds, largest growth first. The tables only have these two builds,
# so an index would not help.
QUERIES = {
    "with names joined first": f"""
SELECT * FROM (
    SELECT symbol, file, line, {SAMPLES}
    FROM stack_node
    JOIN stack_node_data ON stack_node_data.id = data_id
    JOIN executable ON executable.id = executable_id
    WHERE version IN (1, 2) GROUP BY symbol, file, line) AS sums
ORDER BY new - old DESC""",
    "with names joined last": f"""
SELECT symbol, file, line, old, new
FROM (
    SELECT data_id, {SAMPLES} FROM stack_node JOIN executable ON executable.id = executable_id
    WHERE version IN (1, 2) GROUP BY data_id) AS sums
JOIN stack_node_data ON stack_node_data.id = data_id
ORDER BY new - old DESC""",
}


def compare(programs, store, *options):
    """Returns the seconds from the start of the process to its end, and its output."""
    command = [programs / "sto", "--store", store, "find-regressions", *BUILDS, *options]
    start = time.monotonic()
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True)
    seconds = time.monotonic() - start
    if done.returncode not in (0, 1):
        raise SystemExit(f"find-regressions failed with {done.returncode}")
    return seconds, done.stdout


def empty_page_cache():
    """Empties the page cache. Returns True if this is permitted, as for root on a machine that is not shared."""
    os.sync()
    try:
        Path("/proc/sys/vm/drop_caches").write_text("3\n")
    except OSError:
        return False
    return True


def commands(programs, store):
    """Measures the whole command: fastest and median, with a warm and an empty page cache."""
    rows, medians = [], []
    for name, options in [
        ("defaults", []),
        ("thresholds low enough to test thousands of functions", ["--min-share", "0.01"]),
    ]:
        compare(programs, store, *options)
        times = [compare(programs, store, *options)[0] for _ in range(REPEAT)]
        rows.append([name, f"{min(times):.3f}", f"{statistics.median(times):.3f}"])
        medians.append(statistics.median(times))
    if empty_page_cache():
        seconds, _ = compare(programs, store)
        rows.append(["defaults, page cache emptied (once)", f"{seconds:.3f}", ""])
    columns = ["`sto find-regressions`, start to exit", "fastest (s)", "median (s)"]
    goal = verdict("from a cold start", f"{medians[0]:.2f} s", "1 s", medians[0] <= 1)
    return [*table(columns, rows), "", goal, ""]


def parts(programs, store):
    """Measures the parts within one process. Returns a table, and the rows."""
    words = [programs / "store_comparison", store, "--repeat", REPEAT]
    rows = list(csv.DictReader(run(*words).splitlines()))
    cells = []
    for row in rows:
        times = [f"{float(row[key]) * 1e3:,.1f}" for key in ("fastest", "middle")]
        cells.append([row["part"], f"{int(row['size']):,}", *times])
    columns = ["part (of what)", "size", "fastest (ms)", "median (ms)"]
    return table(columns, cells), rows


def peer(programs, store, folder, load, sums):
    """Measures the same sums in PostgreSQL, compared with these parts of sto."""
    run(programs / "store_export", store, folder, "--sums")
    names = sorted(file.stem for file in folder.glob("*.stack_node"))
    seconds = {}
    with postgres.Cluster() as cluster:
        cluster.load(folder, names)
        cluster.sql("VACUUM ANALYZE;")
        nodes = int(cluster.sql("SELECT count(*) FROM stack_node;"))
        for name, query in QUERIES.items():
            answered = int(cluster.sql(f"SELECT count(*) FROM ({query}) AS answer;"))
            if answered != int(sums["size"]):
                raise SystemExit(f"PostgreSQL found {answered} locations, sto {sums['size']}")
            now = "SELECT extract(epoch FROM clock_timestamp());"
            script = [now] + ["\\o /dev/null", f"{query};", "\\o", now] * (REPEAT + 1)
            times = [float(line) for line in cluster.sql("\n".join(script)).split()]
            seconds[name] = statistics.median(b - a for a, b in zip(times[1:], times[2:]))
        server = cluster.version()
    compared = float(sums["middle"])
    opened = compared + float(load["middle"])
    cells = [
        [name, f"{time:.2f}", f"{time / opened:.1f}", f"{time / compared:.0f}"]
        for name, time in seconds.items()
    ]
    columns = [
        f"{server}, {nodes:,} rows of `stack_node`, warm",
        "median (s)",
        "times sto, opening included",
        "times sto, builds loaded",
    ]
    ratio = min(seconds.values()) / opened
    what = "the faster SQL, relative to sto with opening"
    goal = verdict(what, f"{ratio:.1f} times", "10 times", ratio >= 10)
    return ["", *table(columns, cells), "", goal]


def main():
    programs = build()
    with tempfile.TemporaryDirectory(prefix="sto-bench.") as folder:
        folder = Path(folder)
        folder.chmod(0o755)  # for the user who PostgreSQL runs as
        store, peers = folder / "store", folder / "peers"
        peers.mkdir()
        options = ["--profiles", 2 * RUNS, "--builds", 2, "--nodes", NODES]
        run(programs / "store_growth", store, *options, "--functions", FUNCTIONS)
        size = sum(file.stat().st_size for file in store.iterdir())
        lines = [f"- the store has {size / 1e6:,.1f} MB", "", *commands(programs, store)]
        cells, rows = parts(programs, store)
        lines += cells + peer(programs, store, peers, *rows[-2:])
    title = f"{RUNS} runs per side, {NODES:,} nodes per run, {FUNCTIONS:,} functions"
    append("comparison.md", heading(title) + lines)


if __name__ == "__main__":
    main()
