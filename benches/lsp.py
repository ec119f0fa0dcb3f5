#!/usr/bin/env python3
"""Measures response times and memory of the language server.

    python3 benches/lsp.py [--profiles 1000] [--sto PATH]

Fills a store with synthetic profiles in callgrind's format, ten per build, of a program whose source is one file of
10,000 lines in 500 functions; every line has a cost. Opens that file like an editor, and requests hints and hovers, and
hints after each of many edits. Appends the figures to benches/results/lsp.md. Without --sto, builds the command.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from session import append, build, heading, proc, run, table, verdict

LINES = 10_000
FUNCTION = 20
RUNS = 10
EDITS = 100


def profile(seed):
    """Returns a profile in callgrind's format: main calls every function, and every line has a cost."""
    number = random.Random(seed)
    text = ["# callgrind format", "version: 1", "events: Ir"]
    calls = []
    for first in range(1, LINES, FUNCTION):
        costs = [number.randrange(1, 1000) for _ in range(FUNCTION)]
        text += ["fl=src/large.c", f"fn=function_{first}"]
        text += [f"{first + i} {cost}" for i, cost in enumerate(costs)]
        calls += ["cfi=src/large.c", f"cfn=function_{first}", f"calls=1 {first}", f"{LINES} {sum(costs)}"]
    return "\n".join([*text, "fl=src/large.c", "fn=main", f"{LINES} 1", *calls, ""])


class Client:
    def __init__(self, command, root):
        self.server = subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.sent = 0

    def send(self, **message):
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        self.server.stdin.flush()

    def read(self):
        header = {}
        while line := self.server.stdout.readline().strip():
            key, value = line.split(b": ")
            header[key] = value
        return json.loads(self.server.stdout.read(int(header[b"Content-Length"])))

    def hear(self, method):
        while self.read().get("method") != method:
            pass

    def ask(self, method, **params):
        """Returns the response, and the seconds until it arrived."""
        self.sent += 1
        start = time.perf_counter()
        self.send(id=self.sent, method=method, params=params)
        while "method" in (message := self.read()) or message["id"] != self.sent:
            pass
        return message["result"], time.perf_counter() - start

    def memory(self, key):
        return int(proc(f"{self.server.pid}/status", key).split()[0]) / 1024


def milliseconds(times):
    return f"{statistics.median(times) * 1000:.1f} ms, at most {max(times) * 1000:.1f} ms"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--profiles", type=int, default=1000)
    parser.add_argument("--sto", type=Path)
    args = parser.parse_args()
    sto = args.sto.resolve() if args.sto else build() / "sto"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        (root / "src").mkdir()
        source = root / "src/large.c"
        lines = [f"    x += {i};" for i in range(LINES)]
        for first in range(1, LINES, FUNCTION):
            lines[first - 1] = f"int function_{first}(int x)"
        source.write_text("\n".join(lines) + "\n")
        os.utime(source, (0, 0))
        store = root / ".sto"
        for at in range(0, args.profiles, RUNS):
            files = [root / f"callgrind.out.{i}" for i in range(at, min(at + RUNS, args.profiles))]
            for i, file in enumerate(files, at):
                file.write_text(profile(i))
            run(sto, "--store", store, "ingest", *files, "--exe", "large", "--build", f"v{at // RUNS}", cwd=root)
            for file in files:
                file.unlink()
        measure(args, sto, root, source, store)


def measure(args, sto, root, source, store):
    client = Client([sto, "--store", store, "lsp"], root)
    start = time.perf_counter()
    capabilities = {"workspace": {"inlayHint": {"refreshSupport": True}}}
    client.ask("initialize", rootUri=root.as_uri(), capabilities=capabilities)
    uri = {"uri": source.as_uri()}
    client.send(
        method="textDocument/didOpen",
        params={"textDocument": {**uri, "languageId": "c", "version": 1, "text": source.read_text()}},
    )
    client.hear("workspace/inlayHint/refresh")
    client.hear("workspace/inlayHint/refresh")
    first = time.perf_counter() - start
    for _ in range(2):
        client.hear("workspace/inlayHint/refresh")
    whole = time.perf_counter() - start
    settings = {"sto": {"minPercent": 0}}
    client.send(method="workspace/didChangeConfiguration", params={"settings": settings})

    def hints(start, end):
        range_ = {"start": {"line": start, "character": 0}, "end": {"line": end, "character": 0}}
        return client.ask("textDocument/inlayHint", textDocument=uri, range=range_)

    hints(0, 60)
    viewports = [hints(at, at + 60)[1] for at in range(0, LINES - 60, 100)]
    all_hints, all_time = hints(0, LINES)
    hovers = []
    for at in range(0, LINES, FUNCTION):
        place = {"line": at, "character": 6}
        hovers.append(client.ask("textDocument/hover", textDocument=uri, position=place)[1])
    edits = []
    number = random.Random(0)
    for _ in range(EDITS):
        place = {"line": number.randrange(LINES), "character": 0}
        change = {"range": {"start": place, "end": place}, "text": "a new line\n"}
        version = {**uri, "version": 2}
        began = time.perf_counter()
        client.send(method="textDocument/didChange", params={"textDocument": version, "contentChanges": [change]})
        hints(place["line"], place["line"] + 60)
        edits.append(time.perf_counter() - began)
    held, own, peak = (client.memory(key) for key in ["VmRSS", "RssAnon", "VmHWM"])
    new = root / "callgrind.out.new"
    new.write_text(profile(-1))
    run(sto, "--store", store, "ingest", new, "--exe", "large", "--build", "new", cwd=root)
    began = time.perf_counter()
    client.hear("workspace/inlayHint/refresh")
    seen = time.perf_counter() - began
    after = client.memory("VmRSS")
    size = (store / "store.redb").stat().st_size / 1e6
    client.server.kill()
    answers = [*viewports, *hovers, *edits]
    rows = [
        ["hints of 60 lines", milliseconds(viewports)],
        [f"{len(all_hints):,} hints of all lines", milliseconds([all_time])],
        ["hover of a function", milliseconds(hovers)],
        ["an edit, and hints of 60 lines after it", milliseconds(edits)],
        ["first hints after the start", f"{first:.2f} s"],
        ["earlier builds, and the comparison", f"{whole:.2f} s"],
        ["a new profile, after its ingestion", f"{seen:.2f} s"],
        ["memory in use", f"{held:.0f} MiB, of which {held - own:.0f} MiB are the program; after the new profile {after:.0f} MiB"],
        ["peak memory", f"{peak:.0f} MiB"],
    ]
    slowest = max(answers) * 1000
    append(
        "lsp.md",
        [
            *heading(f"{args.profiles:,} profiles in {size:.0f} MB, {LINES:,} lines"),
            "",
            *table(["operation", "time"], rows),
            "",
            verdict("slowest answer", f"{slowest:.1f} ms", "20 ms", slowest < 20),
            verdict("memory in use", f"{held:.0f} MiB", "50 MB", held * 1.048576 < 50),
            verdict("a new profile is seen", f"{seen:.2f} s", "1 s", seen < 1),
        ],
    )


if __name__ == "__main__":
    main()
