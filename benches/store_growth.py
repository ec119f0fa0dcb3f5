#!/usr/bin/env python3
"""Measures a growing store: time of each added profile, memory, and times of queries.

    python3 benches/store_growth.py --profiles 1000 --saturating 1000 --small 10000

Fills a new store with generated profiles of 100,000 nodes, ten per build, and finally one of a million,
runs queries, and loads the first 20 profiles into PostgreSQL. Each of these profiles has stacks that no
other has, which is the worst case. With --saturating, fills another store with profiles that have fewer
and fewer new stacks, like real programs, a hundred per build (see benches/src/generate.rs). Appends the
figures to benches/results/growth.md and draws benches/results/growth.svg. With --small, fills a third
store with many more such profiles of a tenth of the size: benches/results/growth-small.svg. Needs cargo
and Debian's postgresql-15 (it starts a separate server). The store is in TMPDIR: 100 kB per profile.
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

# Number of nodes of a small profile, and of functions of its program.
SMALL = 10_000

# Single times vary, because a commit waits for the disk.
WINDOW = 20

# Number of nodes of the large run that is queried.
LARGE = 1_000_000

# Number of profiles that are also loaded into PostgreSQL.
PEER = 20


def fill(programs, store, options, csv_file):
    """Fills a store. Returns the rows of store_growth for each profile."""
    words = [str(word) for word in [programs / "store_growth", store, *options]]
    with open(csv_file, "w") as out:
        subprocess.run(words, check=True, stdout=out)
    with open(csv_file) as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def medians(rows):
    """Returns the median time of each group of profiles, with the number of its last profile."""
    ends = range(WINDOW, len(rows) + 1, WINDOW)
    return [(end, at(rows, end)) for end in ends]


def at(rows, count):
    """Returns the time of an addition when the store had `count` profiles: the median of the last few."""
    return statistics.median(row["seconds"] for row in rows[max(0, count - WINDOW) : count])


def within(what, seconds, goal):
    """Returns a verdict on a time in seconds."""
    return verdict(what, f"{seconds * 1e3:,.1f} ms", f"{goal * 1e3:.0f} ms", seconds < goal)


def growth(rows):
    """Returns the results of the additions."""
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
    """Returns the number of builds for a number of profiles: ten per build."""
    return -(-profiles // 10)


def saturating(programs, folder, profiles):
    """Measures adding profiles with fewer and fewer new stacks. Returns the results and the points to draw."""
    # Each build has permanently new stacks, so there must not be too many builds.
    options = ["--profiles", profiles, "--builds", -(-profiles // 100), "--saturating"]
    rows = fill(programs, folder / "saturating", options, folder / "saturating.csv")
    lines = ["", f"{profiles:,} profiles whose new stacks become fewer:", *growth(rows)]
    return lines, medians(rows)


def small(programs, folder, profiles):
    """Measures adding small profiles, in a separate drawing."""
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
    """Measures queries, each in a separate process."""
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
    """Measures adding the first profiles to PostgreSQL and to a separate store."""
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
