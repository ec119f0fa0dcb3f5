#!/usr/bin/env python3
"""Compares sizes of a store and its peers for the same recordings. Appends them to benches/results/size.md.

    python3 benches/store_size.py --builds A.perf.data B.perf.data --runs A.perf.data B.perf.data...

--builds are recordings of two builds of a program, --runs are recordings of one build with DWARF
stacks; benches/record.sh makes both kinds. Two recordings with few samples share far fewer stacks than
their programs, so there is also a pair that shares 97 %: the first build, and a second one that
store_rebuild derives from it (see its documentation). Needs cargo, gzip, zstd, and Debian's
postgresql-15 (it starts a separate server).

The size of a store is the size of its folder. The peers get exactly the stacks of sto, with inlined
functions: folded text and the rows for PostgreSQL are written from the store.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import postgres
from session import append, build, heading, run, table, verdict

PACKERS = {"gzip -9": ["gzip", "-9"], "zstd -19": ["zstd", "-19", "-q"]}


class Stored:
    """A store to which recordings are added one by one."""

    def __init__(self, programs, folder):
        self.programs, self.folder = programs, folder
        self.store, self.peers = folder / "store", folder / "peers"
        self.bytes = 0

    def ingest(self, recording, version):
        """Adds a recording. Returns sto's output and the growth of the folder."""
        before = self.bytes
        words = ["ingest", recording, "--build", version, "--store", self.store]
        summary = run(self.programs / "sto", *words, "--report", "json", stderr=subprocess.DEVNULL)
        self.bytes = sum(file.stat().st_size for file in self.store.iterdir())
        (profile,) = json.loads(summary)["recordings"][0]["profiles"]
        return profile, self.bytes - before

    def rebuild(self):
        """Adds a synthetic build derived from the first. Returns the share of common stacks."""
        share = run(self.programs / "store_rebuild", self.store)
        self.bytes = sum(file.stat().st_size for file in self.store.iterdir())
        return share

    def export(self):
        """Writes the store in the formats of its peers. Returns the number of distinct nodes."""
        self.peers.mkdir()
        return int(run(self.programs / "store_export", self.store, self.peers))

    def folded(self):
        """Returns the files of folded text, in the order of the profiles."""
        return sorted(self.peers.glob("*.folded"))


def packed(files):
    """Returns the size of concatenated files, uncompressed and with each compressor."""
    text = b"".join(file.read_bytes() for file in files)
    sizes = {"uncompressed": len(text)}
    for name, command in PACKERS.items():
        sizes[name] = len(
            subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True).stdout
        )
    return sizes


def against_sto(sto, peers):
    """Returns a table of sizes, with their ratio to the store's size."""
    rows = [
        [name, f"{size:,}", f"{size / sto:.2f}"] for name, size in {"**sto**": sto, **peers}.items()
    ]
    return ["", *table(["", "bytes", "times sto"], rows), ""]


def folded_text(stored):
    sizes = packed(stored.folded())
    return {f"folded text, {name}": size for name, size in sizes.items()}


def a_node(stored, nodes):
    each = stored.bytes / nodes
    return verdict("a node", f"{each:.2f} bytes", "at most 3", each <= 3)


def one_build(programs, folder, recording):
    stored = Stored(programs, folder)
    stored.ingest(recording, "1")
    nodes = stored.export()
    peers = folded_text(stored)
    share = stored.bytes / peers["folded text, zstd -19"]
    return [
        "",
        f"The first build alone, {nodes:,} nodes:",
        *against_sto(stored.bytes, peers),
        verdict("one profile", f"{share:.2f} of zstd -19", "less than 1", share < 1),
        a_node(stored, nodes),
    ]


def two_builds(programs, folder, recordings):
    stored = Stored(programs, folder)
    raw = 0
    for version, recording in enumerate(recordings, 1):
        profile, _ = stored.ingest(recording, str(version))
        raw += profile["source_bytes"]
    return against_postgres("Both builds", stored, {"the recordings": raw})


def pair_that_shares(programs, folder, recording):
    """Measures the first build, and a synthetic build derived from it."""
    stored = Stored(programs, folder)
    stored.ingest(recording, "1")
    share = float(stored.rebuild())
    return against_postgres(f"The first build and one of which {share:.1%} are shared", stored, {})


def against_postgres(what, stored, more):
    """Compares the sizes of a store of two builds and its peers, with additional sizes."""
    nodes = stored.export()
    with postgres.Cluster() as cluster:
        cluster.load(stored.peers, [file.stem for file in stored.folded()])
        size, keys = cluster.sizes()
        peers = {
            f"{cluster.version()}, three tables, keys and indexes": size,
            "the same without the two indexes": keys,
        }
    peers |= {**folded_text(stored), **more}
    times = size / stored.bytes
    return [
        "",
        f"{what}, {nodes:,} distinct nodes:",
        *against_sto(stored.bytes, peers),
        verdict("two builds", f"1/{times:.1f} of PostgreSQL", "at most 1/60", times >= 60),
        a_node(stored, nodes),
    ]


def runs_of_one_build(programs, folder, recordings):
    stored = Stored(programs, folder)
    rows, verdicts = [], []
    for number, recording in enumerate(recordings, 1):
        profile, grown = stored.ingest(recording, "1")
        raw = profile["source_bytes"]
        what, goal = ("the first run", 1_500) if number == 1 else (f"run {number}", 10_000)
        share = f"1/{raw / grown:,.0f} of its recording" if grown else "nothing"
        verdicts.append(verdict(what, share, f"at most 1/{goal:,}", grown * goal <= raw))
        rows.append([raw, profile["nodes"], grown, profile["stored_bytes"]])
    nodes = stored.export()
    for row, file in zip(rows, stored.folded()):
        row += packed([file]).values()
    cells = [[number, *(f"{size:,}" for size in row)] for number, row in enumerate(rows, 1)]
    columns = ["run", "recording", "nodes", "the folder grew by", "packed records"]
    columns += [f"folded text, {name}" for name in ["uncompressed", *PACKERS]]
    return [
        "",
        f"Runs of one build with DWARF stacks, {nodes:,} distinct nodes in {stored.bytes:,} bytes:",
        "",
        *table(columns, cells),
        "",
        *verdicts,
        a_node(stored, nodes),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--builds", nargs=2, type=Path, metavar="FILE", default=[])
    parser.add_argument("--runs", nargs="+", type=Path, metavar="FILE", default=[])
    arguments = parser.parse_args()
    recordings = arguments.builds + arguments.runs
    if not recordings:
        parser.error("give --builds, --runs or both")
    programs = build()
    zstd = run("zstd", "--version").strip(" *\n").split(",")[0]
    inputs = ", ".join("/".join(path.parts[-2:]) for path in recordings)
    lines = heading(
        "sizes", f"{run('gzip', '--version').splitlines()[0]}, {zstd}", f"inputs: {inputs}"
    )
    with tempfile.TemporaryDirectory(prefix="sto-bench.") as folder:
        folder = Path(folder)
        folder.chmod(0o755)  # for the user who PostgreSQL runs as
        if arguments.builds:
            lines += one_build(programs, folder / "first", arguments.builds[0])
            lines += two_builds(programs, folder / "builds", arguments.builds)
            lines += pair_that_shares(programs, folder / "pair", arguments.builds[0])
        if arguments.runs:
            lines += runs_of_one_build(programs, folder / "runs", arguments.runs)
    append("size.md", lines)


if __name__ == "__main__":
    main()
