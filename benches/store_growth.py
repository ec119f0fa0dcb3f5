#!/usr/bin/env python3
"""How a store bears growth: time of each profile that goes in, memory, and times of questions.

    python3 benches/store_growth.py --profiles 1000 --saturating 1000 --small 10000

Fills a new store with generated profiles of 100,000 nodes, ten of each build, and at last one of a
million, asks it questions, and loads the first 20 profiles into PostgreSQL. Of these profiles each shows
stacks that no other has: the worst case. With --saturating, another store is filled with profiles whose
new stacks become fewer, a hundred of each build, as those of real programs do (see benches/src/generate.rs). Appends the figures to
benches/results/growth.md and draws benches/results/growth.svg. With --small, a third store is filled with
profiles of a tenth of the size, whose new stacks become fewer too, so that many more go in within the
time: benches/results/growth-small.svg. Needs cargo and Debian's
postgresql-15 (it starts a server of its own). The store stands in TMPDIR: 100 kB a profile.
"""

import argparse
import csv
import statistics
import subprocess
import tempfile
from pathlib import Path

import plot
import postgres
from session import RESULTS, append, build, heading, run, table, verdict

# Nodes of a small profile, and functions of its program.
SMALL = 10_000

# Single times are rough, since a commit waits for the disk.
WINDOW = 20

# Nodes of the one large run, which questions are put to.
LARGE = 1_000_000

# Profiles that PostgreSQL takes too.
PEER = 20


def fill(programs, store, options, csv_file):
    """Fills a store; returns what store_growth tells of each profile."""
    words = [str(word) for word in [programs / "store_growth", store, *options]]
    with open(csv_file, "w") as out:
        subprocess.run(words, check=True, stdout=out)
    with open(csv_file) as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def medians(rows):
    """The middle time of every so many profiles, with the number of the last of them."""
    ends = range(WINDOW, len(rows) + 1, WINDOW)
    return [(end, at(rows, end)) for end in ends]


def at(rows, count):
    """What an addition took when the store held so many: the middle time of the last few."""
    return statistics.median(row["seconds"] for row in rows[max(0, count - WINDOW) : count])


def within(what, seconds, goal):
    """A verdict on a time in seconds."""
    return verdict(what, f"{seconds * 1e3:,.1f} ms", f"{goal * 1e3:.0f} ms", seconds < goal)


def growth(rows):
    """What the additions cost."""
    milestones = {100, 300, 1_000, 3_000, 10_000, len(rows)}
    cells = []
    for count in sorted(n for n in milestones if WINDOW <= n <= len(rows)):
        row, last = rows[count - 1], rows[count - WINDOW : count]
        cells.append(
            [
                f"{count:,}",
                f"{at(rows, count) * 1e3:,.1f}",
                f"{max(row['seconds'] for row in last) * 1e3:,.1f}",
                f"{row['file_bytes'] / 1e6:,.1f}",
                f"{row['peak_memory_bytes'] / 2**20:,.0f}",
            ]
        )
    columns = ["profiles", f"an addition (ms, median of {WINDOW})", "the slowest of them (ms)"]
    columns += ["file (MB)", "peak memory (MiB)"]

    nodes = sum(row["nodes"] for row in rows)
    adding = sum(row["seconds"] for row in rows)
    file, stored = rows[-1]["file_bytes"], sum(row["stored_bytes"] for row in rows)
    lines = [
        "",
        *table(columns, cells),
        "",
        f"- {nodes:,.0f} nodes were added in {adding / 60:.1f} minutes, {nodes / adding:,.0f} per"
        " second",
        f"- the file has {file / len(rows):,.0f} bytes per profile, {stored / len(rows):,.0f} of them"
        " packed records",
    ]
    if len(rows) >= 1_000 and nodes > len(rows) * 5 * SMALL:
        lines.append(within("an addition at 1,000 profiles", at(rows, 1_000), 0.3))
    if len(rows) > 100:
        what, times = f"an addition at {len(rows):,} profiles", at(rows, len(rows)) / at(rows, 100)
        lines.append(verdict(what, f"{times:.2f} times one at 100", "no slower", times <= 1))
    return lines


def builds(profiles):
    """The builds that so many profiles are of: ten are of each."""
    return -(-profiles // 10)


def saturating(programs, folder, profiles):
    """Additions of profiles whose new stacks become fewer, and the points to draw of them."""
    # A build brings stacks for good, so there must not be too many.
    options = ["--profiles", profiles, "--builds", -(-profiles // 100), "--saturating"]
    rows = fill(programs, folder / "saturating", options, folder / "saturating.csv")
    lines = ["", f"{profiles:,} profiles whose new stacks become fewer:", *growth(rows)]
    return lines, medians(rows)


def small(programs, folder, profiles):
    """Additions of small profiles, drawn by themselves."""
    options = ["--profiles", profiles, "--builds", -(-profiles // 100), "--saturating"]
    options += ["--nodes", SMALL, "--functions", SMALL]
    rows = fill(programs, folder / "small", options, folder / "small.csv")
    drawing = plot.scatter(
        f"Adding a profile of {SMALL:,} nodes to a store",
        "profiles in the store",
        f"seconds (median of {WINDOW})",
        {"new stacks become fewer": medians(rows)},
    )
    (RESULTS / "growth-small.svg").write_text(drawing)
    what = f"{profiles:,} profiles of {SMALL:,} nodes, whose new stacks become fewer"
    return ["", f"![{what}](growth-small.svg)", "", f"{what}:", *growth(rows)]


def questions(programs, store):
    """What asking costs, in a process of its own."""
    rows = list(csv.DictReader(run(programs / "store_questions", store).splitlines()))
    cells = []
    for row in rows:
        times = [f"{float(row[key]) * 1e3:,.1f}" for key in ("fastest", "middle")]
        cells.append([row["question"], f"{int(row['nodes']):,}", *times])
    million = float(rows[-1]["middle"])
    return [
        "",
        *table(["question (runs)", "nodes", "fastest (ms)", "median (ms)"], cells),
        "",
        within("opening and listing", float(rows[0]["middle"]), 0.02),
        within("the build of a million nodes, with totals", million, 0.06),
    ]


def peer(programs, folder, arguments):
    """The first profiles, into PostgreSQL and into a store of their own."""
    count = min(PEER, arguments.profiles)
    store, peers = folder / "first", folder / "peers"
    options = ["--profiles", count, "--builds", builds(count)]
    rows = fill(programs, store, options, folder / "first.csv")
    peers.mkdir()
    run(programs / "store_export", store, peers)
    with postgres.Cluster() as cluster:
        times = cluster.load(peers, sorted(file.stem for file in peers.glob("*.stack_node")))
        size, _ = cluster.sizes()
        name = cluster.version()

    def cells(name, times, size):
        seconds = [statistics.mean(times), times[-1]]
        return [name, *(f"{time * 1e3:,.0f}" for time in seconds), f"{size / 1e6:,.1f}"]

    file = sum(file.stat().st_size for file in store.iterdir())
    ours = cells("sto", [row["seconds"] for row in rows], file)
    columns = [f"the first {count} profiles", "mean (ms)", "the last (ms)", "size (MB)"]
    return ["", *table(columns, [ours, cells(name, times, size)])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profiles", type=int, default=1_000)
    parser.add_argument("--saturating", type=int, default=0, metavar="PROFILES")
    parser.add_argument("--small", type=int, default=0, metavar="PROFILES")
    arguments = parser.parse_args()
    programs = build()
    series = {}
    with tempfile.TemporaryDirectory(prefix="sto-bench.") as folder:
        folder = Path(folder)
        folder.chmod(0o755)  # for the user who PostgreSQL runs as
        store = folder / "store"
        options = ["--profiles", arguments.profiles, "--builds", builds(arguments.profiles)]
        distinct = int(run(programs / "store_growth", *options, "--count"))
        rows = fill(programs, store, [*options, "--large", LARGE], folder / "growth.csv")
        large = rows.pop()
        nodes, seconds = large["nodes"], large["seconds"]
        file = rows[-1]["file_bytes"]
        lines = growth(rows)
        lines.append(
            f"- {distinct:,} of the nodes are distinct: the file has {file / distinct:.2f} bytes for"
            " each, including the data of each profile about its nodes"
        )
        lines.append(f"- finally, a run of {nodes:,.0f} nodes was added: {seconds * 1e3:,.0f} ms")
        lines += questions(programs, store)
        lines += peer(programs, folder, arguments)
        series["each with stacks of its own"] = medians(rows)
        if arguments.saturating:
            more, points = saturating(programs, folder, arguments.saturating)
            lines += more
            series["new stacks become fewer"] = points
        if arguments.small:
            lines += small(programs, folder, arguments.small)
    drawing = plot.scatter(
        "Adding a profile of 100,000 nodes to a store",
        "profiles in the store",
        f"seconds (median of {WINDOW})",
        series,
    )
    (RESULTS / "growth.svg").write_text(drawing)
    title = f"{arguments.profiles:,} profiles of {builds(arguments.profiles):,} builds"
    append("growth.md", heading(title) + lines)


if __name__ == "__main__":
    main()
