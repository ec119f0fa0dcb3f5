#!/usr/bin/env python3
"""Counts how often `sto outliers` lists a planted slow call first, in programs that were not used to develop it.

    python3 benches/outliers.py [PLANTED]

Downloads three programs from Debian (`apt-get source`) and builds them with `clang -fxray-instrument`, and with a hook at the
start of each function. PLANTED runs (default 10) of each record every call; in each run, one random call of a random function
with at least a hundred calls waits. It counts as listed first if the first outlier is a call of the function, or was in it for
most of its time. Appends the table to benches/results/outliers.md. Needs apt sources of the type deb-src.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from session import append, build, heading, run, table

FLAGS = "-O2 -g1 -w -fxray-instrument -fxray-instruction-threshold=1 -finstrument-functions-after-inlining"
WAITS = 30_000_000
HOOK = r"""
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#define QUIET __attribute__((no_instrument_function, xray_never_instrument))
extern char __executable_start;
static char *function;
static long call;
static atomic_long calls;
__attribute__((constructor)) QUIET static void choose(void) {
  const char *at = getenv("PLANT_AT"), *which = getenv("PLANT_CALL");
  if (!at || !which) return;
  function = &__executable_start + strtol(at, 0, 16);
  call = atol(which);
}
QUIET void __cyg_profile_func_enter(void *entered, void *from) {
  if (entered != function || atomic_fetch_add(&calls, 1) + 1 != call) return;
  nanosleep(&(struct timespec){0, WAITS}, 0);
}
QUIET void __cyg_profile_func_exit(void *left, void *to) {}
"""
WORDS = b"".join(b"%d the quick brown fox %d jumps over\n" % (number * 7919 % 1000, number) for number in range(12_000))


def source(package, work):
    """Returns the unpacked source of a Debian package."""
    before = set(work.iterdir())
    run("apt-get", "source", "-qq", package, cwd=work, stderr=subprocess.DEVNULL)
    return next(path for path in set(work.iterdir()) - before if path.is_dir())


def make(folder, *words):
    done = subprocess.run(["make", "-s", "-j2", *map(str, words)], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.stderr[-2000:])


def programs(work, hook):
    """Returns the programs to record: a name, the program, and a function that runs it in a folder."""
    flags = f"{FLAGS}"
    link = f"-fxray-instrument {hook} -lpthread -lm"
    zstd = source("zstd", work)
    make(zstd / "programs", "zstd", "CC=clang", f"CFLAGS={flags}", f"LDFLAGS={link}", "HAVE_ZLIB=0", "HAVE_LZMA=0", "HAVE_LZ4=0")
    yield "zstd", zstd / "programs/zstd", lambda program: [program, "-b1", "-i0", "-B1KB", "words"]
    xz = source("xz-utils", work)
    environment = {**os.environ, "CC": "clang", "CFLAGS": flags, "LDFLAGS": link}
    options = ["--disable-shared", "--disable-nls", "--disable-scripts", "--disable-doc"]
    run("./configure", "-q", *options, cwd=xz, env=environment, stderr=subprocess.DEVNULL)
    make(xz)
    yield "xz", xz / "src/xz/xz", lambda program: [program, "-0", "-T2", "--block-size=64KiB", "-k", "-f", "words"]
    redis = source("redis", work)
    make(redis / "src", "redis-server", "CC=clang", "MALLOC=libc", "BUILD_TLS=no", f"CFLAGS={flags}", f"LDFLAGS={link}", "OPTIMIZATION=-O2")
    # Start the client first, because the server would wait for it.
    serve = "rm -f s; python3 {client} $PWD/s & {program} --port 0 --unixsocket $PWD/s --save '' --io-threads 2; wait"
    client = work / "client.py"
    client.write_text(CLIENT)
    yield "redis", redis / "src/redis-server", lambda program: ["sh", "-c", serve.format(program=program, client=client)]


CLIENT = """
import socket, sys, time
s = socket.socket(socket.AF_UNIX)
while s.connect_ex(sys.argv[1]):
    time.sleep(0.0001)
def ask(*words):
    s.sendall(b"*%d\\r\\n" % len(words) + b"".join(b"$%d\\r\\n%s\\r\\n" % (len(w), w) for w in words))
    s.recv(65536)
for n in range(1500):
    ask(b"SET", b"k%d" % (n % 100), b"v" * (n % 64))
    ask(b"LPUSH", b"l", b"%d" % n)
    ask(b"GET", b"k%d" % (n % 70))
    ask(b"ZADD", b"z", b"%d" % (n * 7919 % 1000), b"m%d" % n)
s.sendall(b"*1\\r\\n$8\\r\\nSHUTDOWN\\r\\n")
s.recv(65536)
"""


def record(folder, command, plant):
    """Returns the log of every call of a run."""
    options = f"patch_premain=true xray_mode=xray-basic verbosity=0 xray_logfile_base={folder}/log."
    environment = {**os.environ, **plant, "XRAY_OPTIONS": options, "XRAY_BASIC_OPTIONS": "func_duration_threshold_us=0"}
    subprocess.run([str(word) for word in command], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return max(folder.glob("log.*"), key=lambda log: log.stat().st_size)


def main():
    planted = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    sto = build() / "sto"
    chance = random.Random(1)
    rows, missed = [], []
    with tempfile.TemporaryDirectory(prefix="sto-outliers-") as work:
        work = Path(work)
        (work / "hook.c").write_text(HOOK.replace("WAITS", str(WAITS)))
        hook = work / "hook.o"
        run("clang", "-O2", "-c", "-o", hook, work / "hook.c")
        for name, program, command in programs(work, hook):
            folder = work / f"{name}-runs"
            folder.mkdir()
            (folder / "words").write_bytes(WORDS)
            addresses = {}
            for line in run("nm", program).splitlines():
                at, kind, symbol = line.split(maxsplit=2) if line[0] != " " else ("", "", "")
                if kind in ("t", "T"):
                    addresses.setdefault(symbol, []).append(at)
            calls = {}

            def ingest(log, build):
                about = ["--exe", name, "--build", build, "--symbol-dir", program.parent]
                run(sto, "--store", folder / "store", "ingest", log, *about, stderr=subprocess.DEVNULL)
                log.unlink()

            def ask(*words):
                return json.loads(run(sto, "--store", folder / "store", *words, "--format", "json"))

            log = record(folder, command(program), {})
            ingest(log, "none")
            top = ask("top", "none", "--event", "calls", "-n", "100000")
            for function in top["functions"]:
                called = function["self"]["value"] or function["self"]["samples"]
                if called >= 100 and len(addresses.get(function["function"], [])) == 1:
                    calls[function["function"]] = called
            alone = first = listed = 0
            for number in range(planted):
                function = chance.choice(sorted(calls))
                which = chance.randrange(calls[function] // 4, calls[function] * 3 // 4)
                plant = {"PLANT_AT": addresses[function][0], "PLANT_CALL": str(which)}
                log = record(folder, command(program), plant)
                ingest(log, f"planted{number}")
                outliers = ask("outliers", f"planted{number}")["outliers"]
                # An outlier, and the functions that its thread was in for most of its time.
                named = [{outlier["frames"][-1], *(outlier["within"][0]["frames"][-1:])} for outlier in outliers]
                alone += bool(outliers) and outliers[0]["frames"][-1] == function
                first += bool(named) and function in named[0]
                listed += any(function in names for names in named)
                if not named or function not in named[0]:
                    missed.append(f"{name}: call {which} of {calls[function]} of `{function}`; named first: {named[:1]}")
            counts = [f"{count} of {planted}" for count in [alone, first, listed]]
            rows.append([name, sum(calls.values()), len(calls), *counts])
    columns = ["program", "calls", "functions to choose from", "first", "first, or most of the first", "listed"]
    load = f"load average: {os.getloadavg()[1]:.1f}; each planted call waits {WAITS / 1e6:.0f} ms"
    append("outliers.md", [*heading("planted slow calls", load), "", *table(columns, rows), "", *(f"- {line}" for line in missed)])


if __name__ == "__main__":
    main()
