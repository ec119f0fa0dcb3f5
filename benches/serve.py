#!/usr/bin/env python3
"""Measures a server that takes profiles of services: rate, memory, bytes on disk, questions, and kill -9.

    python3 benches/serve.py push --rate 1000 --seconds 600
    python3 benches/serve.py history --instances 50 --hours 24
    python3 benches/serve.py questions --rate 500 --seconds 60
    python3 benches/serve.py browsers
    python3 benches/serve.py kill --kills 100

Without a name, runs all five. Each starts a server of its own on a new store in TMPDIR. Appends the figures to
benches/results/serve.md. Needs cargo. Wall-clock times only mean something on an idle machine; processor time is always
given, too.
"""

import argparse
import http.client
import json
import os
import random
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from session import append, build, heading, proc, run, table, verdict

# Memory that the server may use, in bytes.
MEMORY = 512 << 20

# Size of all profiles of an instance and day on disk, in bytes.
DAY = 2 << 20

# Seconds until a profile is visible in answers.
VISIBLE = 10


class Server:
    """A server on a free port of this machine."""

    def __init__(self, programs, store):
        command = [programs / "sto", "--store", store, "serve", "--listen", "127.0.0.1:0"]
        self.process = subprocess.Popen(
            [str(word) for word in command],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for line in self.process.stderr:
            if "http://" in line:
                self.address = line.split("http://", 1)[1].split("/")[0].strip()
                break
        else:
            raise RuntimeError("the server did not start")
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def cpu(self):
        """Processor time in seconds."""
        fields = Path("/proc", str(self.process.pid), "stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak(self):
        """Peak memory in bytes."""
        return int(proc(f"{self.process.pid}/status", "VmHWM").split()[0]) << 10

    def ask(self, question, **request):
        """Asks a question. Returns the answer, or None if there is none."""
        connection = http.client.HTTPConnection(self.address, timeout=60)
        headers = {"content-type": "application/json"}
        path = f"/api/v1/questions/{question}"
        connection.request("POST", path, json.dumps(request), headers)
        answer = connection.getresponse()
        body = answer.read()
        return json.loads(body) if answer.status == 200 else None

    def samples(self):
        """The number of samples of the service in the store."""
        answer = self.ask("top", named={"selector": "v1"})
        return answer["samples"] if answer else 0

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def load(programs, *arguments):
    """Runs the load generator. Returns its figures."""
    return json.loads(run(programs / "serve_load", *arguments))


def percentile(times, share):
    return sorted(times)[min(len(times) - 1, int(len(times) * share))] if times else float("nan")


def push(programs, folder, args):
    """Profiles at a fixed rate."""
    server = Server(programs, folder / "store")
    before = server.cpu()
    sent = load(programs, "push", server.address, "--rate", args.rate, "--seconds", args.seconds)
    cpu = server.cpu() - before
    expected = sent["sent"] - sent["asked_to_wait"] - sent["refused"]
    ended, lag = time.monotonic(), float("inf")
    # Each profile has as many samples as the generator makes.
    while time.monotonic() - ended < 60:
        if server.samples() >= expected * 300:
            lag = time.monotonic() - ended
            break
        time.sleep(0.2)
    peak = server.peak()
    server.stop()
    lines = heading(f"{args.rate} profiles a second for {args.seconds} s")
    lines += ["", *table(list(sent), [list(sent.values())]), ""]
    lines += [
        f"- processor time of the server: {cpu / sent['sent'] * 1e3:.2f} ms for a profile of up to"
        f" {sent['decoded_bytes'] / 1e3:.0f} kB",
        verdict("p99", f"{sent['p99_ms']:.0f} ms", "100 ms", sent["p99_ms"] < 100),
        verdict("peak memory", f"{peak >> 20} MiB", "512 MiB", peak < MEMORY),
        verdict("visible after", f"{lag:.1f} s", f"{VISIBLE} s", lag < VISIBLE),
        verdict("refused or asked to wait", sent["sent"] - expected, 0, sent["sent"] == expected),
    ]
    append("serve.md", lines)


def history(programs, folder, args):
    """The bytes on disk of a day."""
    server = Server(programs, folder / "store")
    before = server.cpu()
    sent = load(
        programs, "history", server.address, "--hours", args.hours, "--instances", args.instances
    )
    # The last windows are merged by the clock, a round every 30 seconds.
    time.sleep(args.settle)
    cpu = server.cpu() - before
    server.stop()
    sizes = {}
    for name in ["store", "compacted"]:
        sizes[name] = (folder / "store/store.redb").stat().st_size
        on_disk = (folder / "store/store.redb").stat().st_blocks * 512
        if name == "store":
            in_use = on_disk
            run(programs / "sto", "--store", folder / "store", "compact")
    stats = json.loads(run(programs / "sto", "--store", folder / "store", "stats", "--format", "json"))
    share = sent["gzipped_bytes"] / sizes["compacted"]
    series = sizes["compacted"] / args.instances / (args.hours / 24)
    lines = heading(f"{args.hours} hours of {args.instances} instances, a profile every 15 s")
    lines += ["", *table(list(sent), [list(sent.values())]), ""]
    lines += [
        f"- store: {in_use / 1e6:.1f} MB on disk, {sizes['compacted'] / 1e6:.1f} MB compacted,"
        f" {stats['profiles']} profiles",
        f"- processor time of the server: {cpu / sent['profiles'] * 1e3:.2f} ms a profile",
        verdict("of the gzipped profiles", f"1/{share:.0f}", "1/50", share >= 50),
        verdict("an instance and day", f"{series / 1e6:.2f} MB", "2 MB", series < DAY),
    ]
    append("serve.md", lines)


def questions(programs, folder, args):
    """Questions while profiles arrive."""
    server = Server(programs, folder / "store")
    load(programs, "push", server.address, "--rate", "100", "--seconds", "5")
    time.sleep(6)
    arguments = ["push", server.address, "--rate", args.rate, "--seconds", args.seconds]
    done, times = [], []
    thread = threading.Thread(target=lambda: done.append(load(programs, *arguments)))
    thread.start()
    while thread.is_alive():
        began = time.monotonic()
        assert server.ask("top", named={"selector": "v1"}), "no answer"
        times.append((time.monotonic() - began) * 1e3)
        time.sleep(0.05)
    server.stop()
    p99 = percentile(times, 0.99)
    lines = heading(f"`top` while {args.rate} profiles a second arrive")
    lines += [
        "",
        f"- {len(times)} questions: p50 {percentile(times, 0.5):.1f} ms, max {max(times):.1f} ms",
        verdict("p99", f"{p99:.1f} ms", "50 ms", p99 < 50),
    ]
    append("serve.md", lines)


def browsers(programs, folder, args):
    """200 browsers on the page of 200 builds, each with five runs."""
    store = folder / "store"
    for build in range(200):
        for number in range(5):
            path = folder / f"{build}-{number}.folded"
            path.write_text(f"main;work {1000 + number}\nmain;build{build} {10 + number}\n")
        paths = [folder / f"{build}-{number}.folded" for number in range(5)]
        run(programs / "sto", "--store", store, "ingest", "--exe", "shop", "--build", f"v{build}", *paths)
    server = Server(programs, store)
    seen = load(programs, "browse", server.address)
    peak = server.peak()
    server.stop()
    lines = heading("200 browsers on the page of 200 builds")
    lines.append("")
    for name, times in [("at the same moment", seen["at_once"]), ("all", seen["all"])]:
        p99 = times["p99_ms"]
        lines.append(verdict(f"{name}, p99", f"{p99:.1f} ms", "100 ms", p99 < 100))
    lines.append(f"- peak memory {peak >> 20} MiB")
    append("serve.md", lines)


def kill(programs, folder, args):
    """kill -9 under load: each profile has a function of its own, so that it can be found."""
    store = folder / "store"
    sent, acknowledged = set(), set()
    lock = threading.Lock()
    numbers = iter(range(10**9))
    for round_number in range(args.kills):
        server = Server(programs, store)
        stopped = threading.Event()

        def send():
            connection = None
            while not stopped.is_set():
                with lock:
                    number = next(numbers)
                    sent.add(number)
                body = f"main;work;piece{number} 1\n"
                now = int(time.time())
                path = f"/ingest?name=shop%7Bversion%3Dv1%7D&from={now}&until={now + 10}&format=folded"
                try:
                    connection = connection or http.client.HTTPConnection(server.address, timeout=5)
                    connection.request("POST", path, body)
                    answer = connection.getresponse()
                    answer.read()
                    if answer.status == 200:
                        with lock:
                            acknowledged.add(number)
                except (OSError, http.client.HTTPException):
                    connection = None

        threads = [threading.Thread(target=send) for _ in range(8)]
        for thread in threads:
            thread.start()
        # Some kills hit the time when windows are stored.
        time.sleep(random.uniform(0.2, args.longest))
        server.process.kill()
        server.process.wait()
        stopped.set()
        for thread in threads:
            thread.join()
    server = Server(programs, store)
    deadline = time.monotonic() + 60
    while True:
        text = run(programs / "sto", "--store", store, "export", "--format", "folded", "v1")
        found = {}
        for line in text.splitlines():
            stack, count = line.rsplit(" ", 1)
            function = stack.rsplit(";", 1)[-1]
            if function.startswith("piece"):
                found[int(function.removeprefix("piece"))] = int(count)
        lost = acknowledged - set(found)
        if not lost or time.monotonic() > deadline:
            break
        time.sleep(1)
    server.stop()
    doubled = [number for number, count in found.items() if count != 1]
    lines = heading(f"kill -9, {args.kills} times under load")
    lines += [
        "",
        f"- {len(sent)} profiles sent, {len(acknowledged)} acknowledged, {len(found)} stored",
        verdict("acknowledged and lost", len(lost), 0, not lost),
        verdict("doubled", len(doubled), 0, not doubled),
    ]
    append("serve.md", lines)
    assert not lost and not doubled


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    measures = {
        measure.__name__: measure for measure in [push, history, questions, browsers, kill]
    }
    parser.add_argument("what", nargs="*", choices=[[], *measures], default=[])
    parser.add_argument("--programs", type=Path, help="folder of built programs")
    parser.add_argument("--rate", type=int)
    parser.add_argument("--seconds", type=int)
    parser.add_argument("--instances", type=int, default=50)
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--settle", type=int, default=90, help="seconds to wait for merging")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--longest", type=float, default=8.0, help="seconds until a kill")
    args = parser.parse_args()
    programs = args.programs or build()
    for name in args.what or measures:
        some = argparse.Namespace(**vars(args))
        some.rate = args.rate or (500 if name == "questions" else 1000)
        some.seconds = args.seconds or (60 if name == "questions" else 600)
        with tempfile.TemporaryDirectory() as folder:
            measures[name](programs, Path(folder), some)


if __name__ == "__main__":
    main()
