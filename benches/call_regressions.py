#!/usr/bin/env python3
"""Counts false findings of find-regressions between traces of calls of one build.

    python3 benches/call_regressions.py [RUNS]

Downloads three programs from Debian (`apt-get source`), builds them with `clang -fxray-instrument`, and records every
call of RUNS runs of each (default 12), with the default and with the highest priority. `sto calibrate` compares the
runs of each program with each other. Appends the table to benches/results/call_regressions.md. Needs root for the
priority, apt sources of the type deb-src, and 3 GB in TMPDIR.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from session import append, build, heading, run, table

FLAGS = ["-O2", "-g1", "-fxray-instrument", "-fxray-instruction-threshold=30"]
SIDES = [1, 2, 3, 6]

# Tables, strings, closures and sorting: 420,000 calls.
LUA = """
local function tables(n) local t = {} for i = 1, n do t[i % 1000 + 1] = {i, i * 2} end return #t end
local function strings(n)
  local t = {}
  for i = 1, n do t[#t + 1] = string.format("%d:%s", i, string.rep("x", i % 17)) end
  return table.concat(t, ",")
end
local function match(n)
  local s, c = strings(200), 0
  for i = 1, n do for w in s:gmatch("%d+:x+") do c = c + #w end end
  return c
end
local function sort(n)
  local t, x = {}, 42
  for i = 1, n do x = (x * 1103515245 + 12345) % 2147483648 t[i] = x end
  table.sort(t, function(a, b) return a < b end)
  return t[1]
end
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
print(tables(5000), #strings(1000), match(4), sort(1500), fib(12))
"""


def source(package, work):
    """Returns the unpacked source of a Debian package."""
    run("apt-get", "source", "-qq", package, cwd=work, stderr=subprocess.DEVNULL)
    return next(path for path in work.iterdir() if path.is_dir() and path.name.startswith(package))


def programs(work):
    """Returns the programs to record: name, command and input."""
    lua = source("lua5.4", work) / "src"
    config = lua / "luaconf.h"
    multiarch = '#include "lua5.4-deb-multiarch.h"'
    config.write_text(config.read_text().replace(multiarch, '#define DEB_HOST_MULTIARCH ""'))
    bzip2 = source("bzip2", work)
    sqlite = source("sqlite3", work)
    run("./configure", cwd=sqlite, stderr=subprocess.DEVNULL)
    run("make", "sqlite3.c", cwd=sqlite, stderr=subprocess.DEVNULL)
    script = work / "work.lua"
    script.write_text(LUA)
    files = {
        "lua": [path for path in lua.glob("*.c") if path.name != "luac.c"],
        "bzip2": [
            bzip2 / f"{name}.c"
            for name in "bzip2 blocksort huffman crctable randtable compress decompress bzlib".split()
        ],
        "sqlite": [sqlite / "test/speedtest1.c", sqlite / "sqlite3.c"],
    }
    options = {
        "lua": ["-DLUA_USE_POSIX", "-lm"],
        "bzip2": [],
        "sqlite": ["-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION", f"-I{sqlite}", "-lm"],
    }
    text = (sqlite / "sqlite3.c").read_bytes()[:300_000]
    arguments = {"lua": [script], "bzip2": ["-c"], "sqlite": ["--size", "1", "--memdb"]}
    for name, sources in files.items():
        (work / name).mkdir()
        program = work / name / name
        run("clang", *FLAGS, "-w", "-o", program, *sources, *options[name])
        yield name, [program, *arguments[name]], text if name == "bzip2" else b""


def record(work, name, command, text, nice):
    """Returns the log of every call of one run."""
    environment = {
        **os.environ,
        "XRAY_OPTIONS": f"patch_premain=true xray_mode=xray-basic verbosity=0 xray_logfile_base={work}/log.",
        "XRAY_BASIC_OPTIONS": "func_duration_threshold_us=0",
    }
    subprocess.run(
        ["nice", "-n", str(nice), *map(str, command)],
        input=text,
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    (log,) = work.glob(f"log.{name}.*")
    return log


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    sto = build() / "sto"
    load = os.getloadavg()[1]
    rows = []
    with tempfile.TemporaryDirectory(prefix="sto-null-") as work:
        work = Path(work)
        for name, command, text in programs(work):
            for machine, nice in [("default priority", 0), ("highest priority", -20)]:
                store = work / f"{name}{nice}.sto"
                for _ in range(runs):
                    log = record(work, name, command, text, nice)
                    ingest = ["ingest", "--exe", name, "--build", "v1", "--symbol-dir", work / name, log]
                    run(sto, "--store", store, *ingest)
                    log.unlink()
                cells = []
                for side in SIDES:
                    if 2 * side > runs:
                        cells.append("")
                        continue
                    asked = ["calibrate", "v1", "--event", "wall", "--runs", side, "--format", "json"]
                    reports = json.loads(run(sto, "--store", store, *asked))["false_reports"]
                    cells.append(f"{reports['reports']} of {reports['comparisons']}")
                rows.append([name, machine, *cells])
    more = [f"{runs} runs of each program; load average before: {load:.1f}"]
    columns = ["program", "machine", *(f"{side} per side" for side in SIDES)]
    append("call_regressions.md", [*heading("equal builds, every call traced", *more), "", *table(columns, rows)])


if __name__ == "__main__":
    main()
