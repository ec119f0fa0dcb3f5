#!/usr/bin/env python3
"""Measures the queries of the thesis on profiles in a graph database, in SQL, in pandas and in sto.

    VENV/bin/python benches/history_peers.py --profiles 50

Runs its three queries (potential, section 5.2; time series, A.1; correlation, A.2) in PostgreSQL with the
three tables of the design document, in pandas with the same tables in memory, and with the commands of sto.
Every profile is a separate build, because the tables have no runs. Appends the figures to
benches/results/history.md. Needs cargo, Debian's postgresql-15 (it starts a separate server) and pandas.
"""

import argparse
import csv
import json
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import postgres
from history import LARGE, NODES, commands, fill, medians
from session import append, build, heading, run, table

DEGREE = 10
WINDOW = 10
LEAST_OCCURRENCES = 5

# Each stack's samples, once for each of its innermost locations.
STACKS = """
WITH RECURSIVE up AS (
    SELECT stack_node.id AS node, parent_id, data_id, executable_id, sample_count, 0 AS level
    FROM stack_node JOIN executable ON executable.id = executable_id
    WHERE sample_count > 0 AND version > {after}
    UNION ALL
    SELECT node, above.parent_id, above.data_id, up.executable_id, up.sample_count, level + 1
    FROM up JOIN stack_node AS above ON above.id = up.parent_id WHERE level < {levels}),
stacks AS (SELECT DISTINCT node, data_id, executable_id, sample_count FROM up)
"""

POTENTIAL = """
SELECT symbol, sum(sample_count) AS potential
FROM stacks JOIN stack_node_data ON stack_node_data.id = data_id
GROUP BY symbol ORDER BY potential DESC"""

# The newest version compared with the window before it; versions without the location count as zero.
TIME_SERIES = """
, totals AS (
    SELECT symbol, version = {newest} AS judged, version, sum(sample_count)::float8 AS samples
    FROM stacks JOIN stack_node_data ON stack_node_data.id = data_id
    JOIN executable ON executable.id = executable_id GROUP BY symbol, version),
sums AS (
    SELECT symbol, coalesce(sum(samples) FILTER (WHERE judged), 0) AS actual,
        coalesce(sum(samples) FILTER (WHERE NOT judged), 0) / {window} AS mean,
        coalesce(sum(samples ^ 2) FILTER (WHERE NOT judged), 0) AS squares
    FROM totals GROUP BY symbol),
spread AS (
    SELECT *, sqrt(greatest(squares - {window} * mean ^ 2, 0) / ({window} - 1)) AS deviation FROM sums)
SELECT symbol, CASE WHEN deviation > 0 THEN (actual - mean) / deviation ELSE 0 END AS score
FROM spread ORDER BY score DESC"""

CORRELATION = """
WITH sums AS (
    SELECT symbol, executable_id, sum(sample_count) AS samples
    FROM stack_node JOIN stack_node_data ON stack_node_data.id = data_id
    WHERE sample_count > 0 GROUP BY symbol, executable_id)
SELECT symbol, corr(sums.samples, executable.samples) AS coefficient
FROM sums JOIN executable ON executable.id = executable_id
GROUP BY symbol HAVING count(*) >= {least} ORDER BY coefficient DESC NULLS LAST"""


def timed(answer):
    """Returns the seconds and the result."""
    start = time.monotonic()
    answered = answer()
    return time.monotonic() - start, answered


class Sql:
    def __init__(self, cluster, folder):
        names = sorted(file.stem for file in folder.glob("*.stack_node"))
        self.cluster, self.newest = cluster, len(names)
        self.loading = sum(cluster.load(folder, names))
        cluster.sql("VACUUM ANALYZE;")

    def ask(self, query):
        """Returns the locations of the result, highest first, and the seconds."""
        rows = f"SELECT * FROM ({query}) AS answer"
        seconds, answer = timed(lambda: self.cluster.sql(f"{rows};"))
        return seconds, [line.rsplit("|", 1) for line in answer.splitlines()]

    def potential(self):
        stacks = STACKS.format(after=0, levels=DEGREE)
        return self.ask(stacks + POTENTIAL)

    def time_series(self):
        stacks = STACKS.format(after=self.newest - WINDOW - 1, levels=1_000)
        return self.ask(stacks + TIME_SERIES.format(newest=self.newest, window=WINDOW))

    def correlation(self):
        return self.ask(CORRELATION.format(least=LEAST_OCCURRENCES))


class Frames:
    """Returns the tables as data frames with dense ids."""

    def __init__(self, folder):
        start = time.monotonic()
        def read(table, columns, **options):
            files = sorted(folder.glob(f"*.{table}"))
            options |= {"sep": "\t", "names": columns, "na_values": "\\N", "quoting": csv.QUOTE_NONE}
            return pd.concat([pd.read_csv(file, **options) for file in files], ignore_index=True)

        data = read("stack_node_data", ["id", "line", "file", "symbol"]).drop_duplicates("id")
        self.runs = read("executable", ["id", "name", "version", "samples"])
        columns = ["id", "executable", "data", "parent", "samples"]
        # Ids have 63 bits, more than a floating-point number can represent.
        nodes = read("stack_node", columns, dtype={"parent": "Int64"})
        symbols, _ = pd.factorize(data["symbol"])
        place = pd.Index(data["id"]).get_indexer(nodes["data"])
        self.function = symbols[place]
        parents = nodes["parent"].fillna(0).astype("int64")
        self.parent = pd.Index(nodes["id"]).get_indexer(parents)
        self.run = pd.Index(self.runs["id"]).get_indexer(nodes["executable"])
        self.samples = nodes["samples"].to_numpy()
        self.loading = time.monotonic() - start

    def stacks(self, chosen, levels):
        """Returns run, function and samples of each stack, once for each of its innermost functions."""
        node = at = np.flatnonzero(chosen & (self.samples > 0))
        found = []
        for _ in range(levels + 1):
            if len(node) == 0:
                break
            found.append(pd.DataFrame({"node": node, "function": self.function[at]}))
            at = self.parent[at]
            node, at = node[at >= 0], at[at >= 0]
        found = pd.concat(found).drop_duplicates()
        found["samples"] = self.samples[found["node"]]
        found["run"] = self.run[found["node"]]
        return found

    def potential(self):
        def answer():
            found = self.stacks(np.ones(len(self.samples), bool), DEGREE)
            return found.groupby("function")["samples"].sum().sort_values(ascending=False)

        return timed(answer)

    def time_series(self):
        newest = len(self.runs) - 1

        def answer():
            found = self.stacks(self.run >= newest - WINDOW, 1_000)
            totals = found.pivot_table(
                index="function", columns="run", values="samples", aggfunc="sum", fill_value=0
            )
            window = totals.drop(columns=newest)
            deviation = window.std(axis=1)
            score = (totals[newest] - window.mean(axis=1)) / deviation
            return score.where(deviation > 0, 0).sort_values(ascending=False)

        return timed(answer)

    def correlation(self):
        def answer():
            frame = pd.DataFrame({"f": self.function, "run": self.run, "samples": self.samples})
            sums = frame[frame["samples"] > 0].groupby(["f", "run"])["samples"].sum().unstack()
            sums = sums[sums.count(axis=1) >= LEAST_OCCURRENCES]
            return sums.T.corrwith(self.runs["samples"]).sort_values(ascending=False)

        return timed(answer)


def exported(programs, store, folder):
    folder.mkdir()
    run(programs / "store_export", store, folder)
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profiles", type=int, default=50)
    profiles = parser.parse_args().profiles
    programs = build()
    with tempfile.TemporaryDirectory(prefix="sto-bench.") as folder:
        folder = Path(folder)
        folder.chmod(0o755)  # for the user who PostgreSQL runs as
        history, large = folder / "history", folder / "large"
        options = ["--profiles", profiles, "--builds", profiles, "--nodes", NODES]
        _, filling = fill(programs, history, *options)
        fill(programs, large, "--profiles", 1, "--nodes", LARGE)
        asked = commands(programs, history)
        potential = [programs / "sto", "--store", large, "potential", "v00000", "--degree", DEGREE]
        words = {
            "potential": potential,
            "time series": asked["regressions-over-time"],
            "correlation": asked["bottlenecks"],
        }
        ours = medians(words)
        top = json.loads(run(*potential, "--format", "json"))["functions"][0]["cost"]["samples"]

        of_history = exported(programs, history, folder / "history.tables")
        of_large = exported(programs, large, folder / "large.tables")
        with postgres.Cluster() as cluster:
            sql = Sql(cluster, of_history)
            answers = {"time series": sql.time_series()[0], "correlation": sql.correlation()[0]}
            server, loading = cluster.version(), sql.loading
        with postgres.Cluster() as cluster:
            answers["potential"], rows = Sql(cluster, of_large).potential()
        if int(rows[0][1]) != top:
            raise SystemExit(f"PostgreSQL has a potential of {rows[0][1]} samples, sto of {top}")
        frames = Frames(of_history)
        pandas = {"time series": frames.time_series()[0], "correlation": frames.correlation()[0]}
        of_large = Frames(of_large)
        pandas["potential"], found = of_large.potential()
        if found.iloc[0] != top:
            raise SystemExit(f"pandas has a potential of {found.iloc[0]} samples, sto of {top}")
    cells = [
        [
            name,
            f"{ours[name]:.3f}",
            *(
                cell
                for times in (answers, pandas)
                for cell in (f"{times[name]:.2f}", f"{times[name] / ours[name]:.0f}")
            ),
        ]
        for name in words
    ]
    columns = ["seconds", "sto, start to exit", server, "times sto"]
    columns += [f"pandas {pd.__version__}, loaded", "times sto"]
    lines = [
        f"- potentials of degree {DEGREE} over one profile of {LARGE:,} nodes; the newest of {profiles}"
        f" profiles of {NODES:,} nodes against {WINDOW} before it; correlation over all {profiles}",
        f"- `sto` reads its store each time; the {profiles} profiles went into PostgreSQL in"
        f" {loading:,.0f} s, into data frames in {frames.loading:,.0f} s, and into `sto` in"
        f" {filling:,.0f} s, their making included",
        "- PostgreSQL and pandas correlate the runs that have a function, as the thesis does; `sto` all,"
        " and it finds change points too",
        "",
        *table(columns, cells),
    ]
    append("history.md", heading(f"the thesis's queries, {profiles} profiles") + lines)


if __name__ == "__main__":
    main()
