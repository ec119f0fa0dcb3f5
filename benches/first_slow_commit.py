#!/usr/bin/env python3
"""Measures finding the first slow one of 64 commits, compared with `git bisect run` with one run per step.

    python3 benches/first_slow_commit.py [SEARCHES]

Creates a repository of 65 commits, each of which changes a file of a C program that runs for a second. One commit, different in
each of the SEARCHES (default 3), makes a function slower: by 100 %, and by 20 %. `git bisect run` uses one run per commit, with a
limit halfway between the two times. Each search has a new store. Appends the figures to benches/results/first_slow_commit.md.
"""

import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from session import append, build, heading, run, table, verdict

COMMITS = 64
PROGRAM = """
#include <stdio.h>
#include "version.h"
__attribute__((noinline)) unsigned parse(unsigned x, unsigned rounds) {
  for (unsigned i = 0; i < rounds; i++) x = x * 1664525u + 1013904223u + (x >> 16);
  return x;
}
__attribute__((noinline)) unsigned render(unsigned x, unsigned rounds) {
  for (unsigned i = 0; i < rounds; i++) x = x * 22695477u + 1u + (x >> 16);
  return x;
}
int main() {
  unsigned x = VERSION;
  for (int i = 0; i < 1000; i++) x = render(parse(x, PARSE), RENDER);
  printf("%u\\n", x);
}
"""
MAKE = "bench: bench.c version.h\n\tcc -O1 -g -fno-omit-frame-pointer -o bench bench.c\n"


def seconds(program):
    start = time.perf_counter()
    run(program)
    return time.perf_counter() - start


def repository(folder, first_slow, factor, rounds):
    """Creates commits; `first_slow` is the number of the first slow one."""
    git = lambda *words: run("git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b", *words)
    run("git", "init", "-q", "-b", "main", folder)
    (folder / "bench.c").write_text(PROGRAM)
    (folder / "Makefile").write_text(MAKE)
    (folder / ".gitignore").write_text("bench\n")
    ids = []
    for number in range(COMMITS + 1):
        parse = rounds * (factor if number >= first_slow else 1)
        text = f"#define VERSION {number}\n#define PARSE {parse:.0f}u\n#define RENDER {rounds}u\n"
        (folder / "version.h").write_text(text)
        git("add", ".")
        git("commit", "-q", "-m", f"change {number}")
        ids.append(git("rev-parse", "HEAD").strip())
    return ids


def by_git(folder, ids, limit):
    script = folder.parent / "step.sh"
    script.write_text(
        "make -s || exit 125\n"
        f"python3 -c 'import subprocess, sys, time; start = time.perf_counter(); subprocess.run([\"./bench\"], "
        f"stdout=subprocess.DEVNULL); sys.exit(time.perf_counter() - start > {limit})'\n"
    )
    start = time.perf_counter()
    run("git", "-C", folder, "bisect", "start", ids[-1], ids[0], stderr=subprocess.DEVNULL)
    run("git", "-C", folder, "bisect", "run", "sh", script, stderr=subprocess.DEVNULL)
    took = time.perf_counter() - start
    found = run("git", "-C", folder, "rev-parse", "bisect/bad").strip()
    run("git", "-C", folder, "bisect", "reset", stderr=subprocess.DEVNULL)
    return took, found


def by_sto(sto, folder, ids):
    store = folder.parent / "store"
    command = [sto, "--store", store, "bisect", "--good", ids[0], "--bad", ids[-1], "--format", "json"]
    start = time.perf_counter()
    done = subprocess.run(
        [*map(str, command), "--", "make -s && ./bench"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    took = time.perf_counter() - start
    state = json.loads(done.stdout)
    return took, state


def main():
    searches = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    sto = build() / "sto"
    chance = random.Random(1)
    rows, ratios = [], []
    with tempfile.TemporaryDirectory(prefix="sto-bisect-") as work:
        work = Path(work)
        # Number of rounds that take a second.
        repository(work / "try", COMMITS + 1, 1, 100_000)
        run("make", "-s", "-C", work / "try")
        rounds = round(100_000 / seconds(work / "try/bench"))
        for factor in [2, 1.2]:
            # The other function takes half the time.
            limit = (1 + (1 + factor) / 2) / 2
            sums = {"git": [0, 0], "sto": [0, 0]}
            runs = 0
            for search in range(searches):
                folder = work / f"{factor}-{search}" / "repository"
                first_slow = chance.randrange(1, COMMITS + 1)
                ids = repository(folder, first_slow, factor, rounds)
                took, found = by_git(folder, ids, limit)
                sums["git"][0] += took
                sums["git"][1] += found == ids[first_slow]
                took, state = by_sto(sto, folder, ids)
                sums["sto"][0] += took
                sums["sto"][1] += state["state"] == {"found": ids[first_slow]}
                runs += state["good_runs"] + sum(commit["runs"] for commit in state["commits"])
            for name, (took, right) in sums.items():
                rows.append([f"{factor - 1:.0%}", name, f"{took / searches:.1f} s", f"{right} of {searches}"])
            ratios.append((factor, sums["sto"][0] / sums["git"][0], runs / searches))
    lines = [
        *heading(f"the first slow one of {COMMITS} commits", "a program of 1 s, half of which gets slower; runs of both in turn"),
        "",
        *table(["slower by", "search", "time", "right"], rows),
        "",
    ]
    for factor, ratio, runs in ratios:
        what = f"`sto bisect` compared with `git bisect run`, {factor - 1:.0%} slower, {runs:.0f} runs"
        lines.append(verdict(what, f"{ratio:.1f} times as long", "2", ratio <= 2))
    append("first_slow_commit.md", lines)


if __name__ == "__main__":
    main()
