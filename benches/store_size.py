#!/usr/bin/env python3
"""Sizes of a store beside its peers, on the same recordings; appended to benches/results/size.md.

    python3 benches/store_size.py --builds A.perf.data B.perf.data --runs A.perf.data B.perf.data...

--builds are recordings of two builds of a program, --runs are further recordings of one build, with
DWARF stacks; benches/record.sh makes both kinds. Needs cargo, gzip, zstd, and Debian's postgresql-15
(it starts a server of its own, and asks for none that runs).

The size of a store is that of its folder. The peers get exactly the stacks that sto has, with
inlined functions: folded text is written out of the store, and so are the rows for PostgreSQL.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import postgres
from session import append, build, heading, run, table

PACKERS = {"gzip -9": ["gzip", "-9"], "zstd -19": ["zstd", "-19", "-q"]}


class Stored:
    """A store that recordings go into one by one."""

    def __init__(self, programs, folder):
        self.programs, self.folder = programs, folder
        self.store, self.peers = folder / "store", folder / "peers"
        self.bytes = 0

    def ingest(self, recording, version):
        """Adds a recording; returns what sto says of it, and by how much the folder grew."""
        before = self.bytes
        words = ["ingest", recording, "--build", version, "--store", self.store]
        summary = run(self.programs / "sto", *words, "--format", "json", stderr=subprocess.DEVNULL)
        self.bytes = sum(file.stat().st_size for file in self.store.iterdir())
        (profile,) = json.loads(summary)["recordings"][0]["profiles"]
        return profile, self.bytes - before

    def export(self):
        """Writes the store as its peers have it; returns the number of distinct nodes."""
        self.peers.mkdir(parents=True)
        self.peers.chmod(0o755)
        return int(run(self.programs / "store_export", self.store, self.peers))

    def folded(self):
        return sorted(self.peers.glob("*.folded"))


def packed(files):
    """Bytes of files, one behind the other, as they are and by each packer."""
    text = b"".join(file.read_bytes() for file in files)
    sizes = {"as it is": len(text)}
    for name, command in PACKERS.items():
        sizes[name] = len(subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True).stdout)
    return sizes


def row(name, size, sto):
    return [name, f"{size:,}", f"{size / sto:.2f}"]


def verdict(what, value, goal):
    return f"- {what}: {value}; the goal is {goal[0]}: **{'reached' if goal[1] else 'missed'}**"


def two_builds(programs, folder, recordings, cluster):
    stored = Stored(programs, folder)
    raw, lines = 0, []
    for number, recording in enumerate(recordings, 1):
        profile, _ = stored.ingest(recording, str(number))
        raw += profile["source_bytes"]
        if number == 1:
            first = Stored(programs, folder / "first")
            first.ingest(recording, "1")
            nodes = first.export()
            folded = packed(first.folded())
            rows = [row("**sto**", first.bytes, first.bytes)]
            rows += [row(f"folded text, {name}", size, first.bytes) for name, size in folded.items()]
            lines += ["", f"The first build alone, {nodes:,} nodes:", ""]
            lines += table(["", "bytes", "times sto"], rows)
            smaller = first.bytes < folded["zstd -19"]
            share = f"{first.bytes / folded['zstd -19']:.2f} of zstd -19"
            lines += ["", verdict("one profile", share, ("less than 1", smaller))]
            lines.append(verdict("a node", f"{first.bytes / nodes:.2f} bytes", ("3", first.bytes <= 3 * nodes)))
    nodes = stored.export()
    names = [file.stem for file in stored.folded()]
    cluster.load(stored.peers, names)
    size, keys = cluster.sizes()
    rows = [row("**sto**", stored.bytes, stored.bytes)]
    rows.append(row("PostgreSQL, three tables, indexes", size, stored.bytes))
    rows.append(row("PostgreSQL, three tables, primary keys only", keys, stored.bytes))
    rows += [row(f"folded text, {name}", n, stored.bytes) for name, n in packed(stored.folded()).items()]
    rows.append(row("the recordings", raw, stored.bytes))
    lines += ["", f"Both builds, {nodes:,} distinct nodes:", "", *table(["", "bytes", "times sto"], rows), ""]
    lines.append(verdict("two builds", f"1/{size / stored.bytes:.1f} of PostgreSQL", ("1/60", size >= 60 * stored.bytes)))
    lines.append(verdict("a node", f"{stored.bytes / nodes:.2f} bytes", ("3", stored.bytes <= 3 * nodes)))
    return lines


def runs_of_one_build(programs, folder, recordings):
    stored = Stored(programs, folder)
    rows, goals = [], []
    for number, recording in enumerate(recordings, 1):
        profile, grown = stored.ingest(recording, "1")
        raw = profile["source_bytes"]
        rows.append([number, f"{raw:,}", f"{profile['nodes']:,}", f"{grown:,}", f"{profile['stored_bytes']:,}", f"1/{raw / grown:,.0f}"])
        if number == 1:
            goals.append(verdict("the first", f"1/{raw / grown:,.0f} of its recording", ("1/1,500", raw >= 1_500 * grown)))
        else:
            goals.append(verdict(f"run {number}", f"1/{raw / grown:,.0f} of its recording", ("1/10,000", raw >= 10_000 * grown)))
    nodes = stored.export()
    for line, file in zip(rows, stored.folded()):
        line += [f"{size:,}" for size in packed([file]).values()]
    columns = ["run", "recording", "nodes", "the folder grew by", "packed records", "of the recording"]
    columns += [f"folded, {name}" for name in ["as it is", *PACKERS]]
    goals.append(verdict("a node", f"{stored.bytes / nodes:.2f} bytes", ("3", stored.bytes <= 3 * nodes)))
    return ["", f"Runs of one build, {nodes:,} distinct nodes in {stored.bytes:,} bytes:", "", *table(columns, rows), "", *goals]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--builds", nargs=2, type=Path, metavar="FILE", default=[])
    parser.add_argument("--runs", nargs="+", type=Path, metavar="FILE", default=[])
    arguments = parser.parse_args()
    if not arguments.builds + arguments.runs:
        parser.error("give --builds, --runs or both")
    programs = build()
    versions = [run("gzip", "--version").splitlines()[0], run("zstd", "--version").strip(" *\n").split(",")[0]]
    lines = []
    with tempfile.TemporaryDirectory(prefix="sto-bench.") as folder, postgres.Cluster() as cluster:
        folder = Path(folder)
        folder.chmod(0o755)
        versions.append(cluster.version())
        if arguments.builds:
            lines += two_builds(programs, folder / "builds", arguments.builds, cluster)
        if arguments.runs:
            lines += runs_of_one_build(programs, folder / "runs", arguments.runs)
    names = ", ".join(path.name for path in arguments.builds + arguments.runs)
    append("size.md", heading(names, versions) + lines)


if __name__ == "__main__":
    main()
