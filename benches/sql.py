#!/usr/bin/env python3
"""Measures queries in SQL, compared with PostgreSQL and DuckDB, and the rows read per second.

    python3 benches/sql.py

Fills a store with a run of each of two builds of 104,000 stacks, and runs the design document's query in `sto sql` from a cold
start, in PostgreSQL with the same rows in memory, and in DuckDB on the dataset that `sto export` writes, also from a cold start.
Then adds 96 runs, and reads ten million rows of `sample`. Appends the figures to benches/results/sql.md. Needs cargo, Debian's
postgresql-15 (it starts a separate server) and PyPI's duckdb-cli.
"""

import random
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import postgres
from comparison import QUERIES
from session import append, build, heading, run, table, verdict

NODES = 104_000
FUNCTIONS = 20_000
RUNS = 98
REPEAT = 9
SCANS = [
    "SELECT count(*) FROM sample",
    "SELECT sum(self) FROM sample",
    "SELECT sum(self), sum(total) FROM sample",
    "SELECT function, sum(self) FROM sample JOIN stack_node_data d ON d.id = stack_node_data_id GROUP BY function",
    "SELECT function, sum(self) FROM function_sample GROUP BY function",
]
# The document's query, for the columns of a dataset.
OF_DATASET = """
SELECT symbol, file, line,
       coalesce(sum(samples) FILTER (WHERE build = 1), 0) AS old,
       coalesce(sum(samples) FILTER (WHERE build = 2), 0) AS new
FROM read_parquet('{}/sample/*/*/*.parquet', hive_partitioning = true)
WHERE build IN (1, 2)
GROUP BY symbol, file, line
ORDER BY new - old DESC
"""


def stacks():
    """Returns stacks as folded text, callers first."""
    choose = random.Random(1)
    stacks = ["main"]
    while len(stacks) < NODES:
        caller = stacks[int(len(stacks) * choose.random() ** 0.5) - 1]
        if caller.count(";") < 40:
            stacks.append(f"{caller};ns::module::function_{choose.randrange(FUNCTIONS)}")
    return stacks


def ingest(sto, store, folder, stacks, version, number):
    choose = random.Random(number)
    file = folder / "run.folded"
    file.write_text("".join(f"{stack} {1 + int(choose.expovariate(0.2))}\n" for stack in stacks))
    run(sto, "--store", store, "ingest", file, "--exe", "demo", "--build", version)


def timed(*command):
    """Returns the median seconds from the start of a process to its end, and the lines of its output."""
    times = []
    for _ in range(REPEAT):
        start = time.perf_counter()
        lines = run(*command).count("\n")
        times.append(time.perf_counter() - start)
    return statistics.median(times), lines


def asked(sto, store, sql):
    return timed(sto, "--store", store, "sql", sql, "--format", "csv")


def in_duckdb(sto, store, folder):
    """Like `asked`, for DuckDB on the dataset."""
    dataset = folder / "dataset"
    run(sto, "--store", store, "export", "--format", "parquet", "-o", dataset)
    return timed("duckdb", "-csv", "-c", OF_DATASET.format(dataset))


def in_postgres(programs, store, folder):
    """Returns the median time of each query, with tables in memory."""
    exported = folder / "exported"
    exported.mkdir()
    # PostgreSQL reads it as another user.
    folder.chmod(0o755)
    run(programs / "store_export", store, exported, "--sums")
    seconds = {}
    with postgres.Cluster() as cluster:
        cluster.load(exported, sorted(file.stem for file in exported.glob("*.stack_node")))
        cluster.sql("VACUUM ANALYZE;")
        for name, query in QUERIES.items():
            now = "SELECT extract(epoch FROM clock_timestamp());"
            script = [now] + ["\\o /dev/null", f"{query};", "\\o", now] * (REPEAT + 1)
            times = [float(line) for line in cluster.sql("\n".join(script)).split()]
            seconds[name] = statistics.median(b - a for a, b in zip(times[1:], times[2:]))
        return cluster.version(), seconds


def main():
    programs = build()
    sto = programs / "sto"
    with tempfile.TemporaryDirectory(prefix="sto-sql.") as folder:
        folder = Path(folder)
        store = folder / "store"
        of_both = stacks()
        for number, version in enumerate("12"):
            ingest(sto, store, folder, of_both, version, number)
        server, peer = in_postgres(programs, store, folder)
        over_parquet, _ = in_duckdb(sto, store, folder)
        rows, goals = [], []
        for name, query in QUERIES.items():
            seconds, lines = asked(sto, store, query.replace("data_id", "stack_node_data_id"))
            rows.append([name, f"{lines - 1:,}", f"{seconds:.3f}", f"{peer[name]:.3f}", f"{peer[name] / seconds:.1f}"])
        peers = [("the faster query there, warm", min(peer.values())), (f"DuckDB over Parquet, cold ({over_parquet:.3f} s)", over_parquet)]
        for what, seconds in peers:
            ratio = seconds / float(rows[1][2])
            goals.append(verdict(f"{what}, to `sto sql` from a cold start", f"{ratio:.1f} times", "3 times", ratio >= 3))
        for number in range(2, RUNS):
            ingest(sto, store, folder, of_both, "12"[number % 2], number)
        scans = []
        for sql in SCANS:
            seconds, _ = asked(sto, store, sql)
            scans.append([f"`{sql}`", f"{seconds:.2f}", f"{RUNS * NODES / seconds / 1e6:.1f}"])
        rate = float(scans[1][2])
        goals.append(verdict("`sum(self)`, from a cold start", f"{rate} million rows per second", "20", rate >= 20))
        columns = ["the document's question", "rows", "sto, cold (s)", f"{server}, warm (s)", "ratio"]
        scanned = [f"{RUNS * NODES / 1e6:.1f} million rows", "seconds", "million per second"]
        title = heading("SQL", f"two builds of {NODES:,} stacks each; medians of {REPEAT}")
        append("sql.md", [*title, "", *table(columns, rows), "", *table(scanned, scans), "", *goals])


if __name__ == "__main__":
    main()
