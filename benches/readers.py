#!/usr/bin/env python3
"""Measures the processor time and memory to read each format.

    python3 benches/readers.py [FORMAT...]

Makes about 100 MB of each format by repeating the samples, events or calls of a real file in testdata, and ingests
them into an empty store with one thread. Appends the figures to benches/results/readers.md. Needs cargo, zstd and
200 MB in TMPDIR.
"""

import copy
import gzip
import json
import multiprocessing
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from session import REPOSITORY, append, build, heading, table, varint, verdict

TESTDATA = REPOSITORY / "testdata"
SIZE = 100_000_000
GOAL = 200
# Formats with functions instead of samples, whose real files are much smaller than 100 MB.
NOT_MEASURED = {
    "cProfile": "has each function and pair of them once",
    "pyinstrument": "has each call path once",
    "GHC": "has each call path once",
    "sample": "has each call path once",
    "VTune": "has each call path once",
    "Visual Studio": "has each call path once",
    "YourKit": "has each call path once",
    "Scalene": "has each line and stack once",
    "XHProf": "has each pair of functions once",
    "gprof": "has each pair of functions once",
    "DHAT": "has each call path once",
    "Massif": "has each call path once a snapshot",
    "heap snapshots": "has each object once",
    "dumps of threads": "has each thread once",
}


def file(name):
    content = (TESTDATA / name).read_bytes()
    match Path(name).suffix:
        case ".gz":
            return gzip.decompress(content)
        case ".zst":
            return subprocess.run(["zstd", "-dc"], input=content, check=True, stdout=subprocess.PIPE).stdout
    return content


def over_and_over(part, size=SIZE):
    return part * max(1, size // len(part))


def times(part):
    """Returns the numbers of the repetitions of a part that fill the size, from 0."""
    return range(max(1, SIZE // len(part)))


def lines_after(name, last_of_head, tail=b""):
    """Returns a text with the lines between its head and its end repeated."""
    text = file(name)
    at = text.index(last_of_head)
    at = text.index(b"\n", at) + 1
    end = text.rindex(tail) if tail else len(text)
    return text[:at] + over_and_over(text[at:end]) + text[end:]


def repeated_json(name, repeat):
    """Returns a JSON file, after `repeat` made its lists longer."""
    text = file(name)

    def made(times):
        value = json.loads(text)
        repeat(value, times)
        return json.dumps(value, separators=(",", ":")).encode()

    return made(SIZE // ((len(made(101)) - len(made(1))) // 100))


def repeat_columns(table, times):
    """Repeats the lists of a table, which are its columns."""
    for key, value in table.items():
        if isinstance(value, list):
            table[key] = value * times


def shifted(text, pattern, step):
    """Repeats a text with numbers that grow by a step each time."""
    places = re.compile(pattern)
    return b"".join(
        places.sub(lambda number: str(int(number[0]) + ix * step).encode(), text) for ix in times(text)
    )


# Protocol Buffers.


def fields(message):
    """Yields the number of each field of a message, and its bytes with and without the tag."""
    place = 0
    while place < len(message):
        start = place
        tag, place = varint(message, place)
        value = place
        match tag & 7:
            case 0:
                _, place = varint(message, place)
            case 1:
                place += 8
            case 2:
                length, value = varint(message, place)
                place = value + length
            case 5:
                place += 4
        yield tag >> 3, message[start:place], message[value:place]


def number(value):
    made = bytearray()
    while value >= 0x80:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(made) + bytes([value])


def part(field, message):
    return number(field << 3 | 2) + number(len(message)) + message


def pprof():
    """Returns sample types and then samples, in the order of real writers."""
    profile = list(fields(file("pprof/go-cpu.pb.gz")))
    types, samples = (b"".join(whole for number, whole, _ in profile if number == wanted) for wanted in (1, 2))
    rest = b"".join(whole for number, whole, _ in profile if number > 2)
    return types + over_and_over(samples) + rest


def otlp():
    def grown(message, path):
        return b"".join(
            whole if number != path[0] else over_and_over(whole, SIZE // 6) if len(path) == 1
            else part(number, grown(inner, path[1:]))
            for number, whole, inner in fields(message)
        )  # fmt: skip

    return grown(file("otlp/v1.10.otlp"), [1, 2, 2, 2])


def otlp_messages():
    message = file("otlp/v1.10.otlp")
    return over_and_over(struct.pack(">I", len(message)) + message)


def perfetto():
    """Returns packets whose times (field 8) have room for larger ones."""
    made, stamps = bytearray(), []
    for _, _, packet in fields(file("perfetto/tracks.pftrace.zst")):
        inner, at = bytearray(), []
        for number, whole, value in fields(packet):
            if number == 8:
                at.append((len(inner) + 1, varint(value, 0)[0]))
                whole = [number << 3, *bytes(9)]
            inner += bytes(whole)
        start = len(made) + len(part(1, inner)) - len(inner)
        made += part(1, inner)
        stamps += [(start + place, stamp) for place, stamp in at]
    whole = []
    for ix in times(made):
        for place, stamp in stamps:
            shifted = stamp + ix * 10**12
            made[place : place + 9] = bytes(shifted >> 7 * n & 0x7F | (n < 8) << 7 for n in range(9))
        whole.append(bytes(made))
    return b"".join(whole)


# Other binary formats.


def perf_data():
    """Repeats the samples of the data section, each time as a round of perf, and moves the following sections."""
    data = file("demo/v1.perf.data")
    at, size = struct.unpack_from("<QQ", data, 40)
    records, samples = [], []
    place = at
    while place < at + size:
        kind, _, length = struct.unpack_from("<IHH", data, place)
        (samples if kind == 9 else records).append(data[place : place + length])
        place += length
    finished_round = struct.pack("<IHH", 68, 0, 8)
    section = b"".join(records) + over_and_over(b"".join(samples) + finished_round)
    moved = len(section) - size
    head, tail = bytearray(data[:at]), bytearray(data[at + size :])
    struct.pack_into("<Q", head, 48, len(section))
    for ix in range(sum(bin(byte).count("1") for byte in data[72:104])):
        (offset,) = struct.unpack_from("<Q", tail, 16 * ix)
        struct.pack_into("<Q", tail, 16 * ix, offset + moved)
    return bytes(head) + section + bytes(tail)


def xray():
    log = file("xray/basic.xray")
    records = [(log[at : at + 8], *struct.unpack("<Q", log[at + 8 : at + 16]), log[at + 16 : at + 32]) for at in range(32, len(log), 32)]
    # Other records are arguments.
    is_call = lambda start: start[:2] == b"\0\0"
    stamps = [stamp for start, stamp, _ in records if is_call(start)]
    span = 1 + max(stamps) - min(stamps)
    made = bytearray(log[:32])
    for ix in times(log):
        for start, stamp, rest in records:
            made += start + struct.pack("<Q", stamp + ix * span * is_call(start)) + rest
    return bytes(made)


def uftrace(folder):
    shutil.copytree(TESTDATA / "uftrace/calls.data", folder)
    for name in folder.glob("*.dat"):
        records = name.read_bytes()
        words = struct.unpack(f"<{len(records) // 8}Q", records)
        span = 1 + max(words[::2]) - min(words[::2])
        with open(name, "wb") as out:
            for ix in range(SIZE // 3 // len(records)):
                moved = [word + ix * span if at % 2 == 0 else word for at, word in enumerate(words)]
                out.write(struct.pack(f"<{len(words)}Q", *moved))


# JSON.


def firefox(profile, times):
    for thread in profile["threads"]:
        repeat_columns(thread["samples"], times)
        thread["samples"]["length"] = len(thread["samples"]["stack"])


def speedscope(profile, times):
    for one in profile["profiles"]:
        one["samples"] *= times
        one["weights"] *= times
        one["endValue"] = sum(one["weights"])


def speedscope_events(profile, times):
    for one in profile["profiles"]:
        span = one["endValue"] - one["startValue"]
        one["events"] = [
            {**event, "at": event["at"] + ix * span} for ix in range(times) for event in one["events"]
        ]
        one["endValue"] = one["startValue"] + times * span


def cpuprofile(profile, times):
    profile["samples"] *= times
    profile["timeDeltas"] *= times
    profile["endTime"] = profile["startTime"] + sum(profile["timeDeltas"])


def heapprofile(profile, times):
    profile["samples"] *= times


def stackprof(profile, times):
    for key in "raw", "raw_sample_timestamps", "raw_timestamp_deltas":
        profile[key] *= times


def perun(profile, times):
    for resource in profile["resources"].values():
        repeat_columns(resource, times)


def chrome(trace, times):
    events = trace["traceEvents"]
    stamps = [event["ts"] for event in events if "dur" in event]
    span = 1 + max(stamps) - min(stamps) + max(event.get("dur", 0) for event in events)
    calls = [event for event in events if "dur" in event]
    trace["traceEvents"] = events + [
        {**event, "ts": event["ts"] + ix * span} for ix in range(1, times) for event in calls
    ]


def chrome_profile(trace, times):
    """Returns the chunks without nodes and end, which occur once."""
    chunks = [event for event in trace["traceEvents"] if event["name"] == "ProfileChunk"]
    chunks = copy.deepcopy([chunk for chunk in chunks if "cpuProfile" in chunk["args"]["data"]])
    for chunk in chunks:
        chunk["args"]["data"]["cpuProfile"].pop("nodes", None)
    trace["traceEvents"] += chunks * times


def lines_of_json(name):
    return over_and_over(json.dumps(json.loads(file(name)), separators=(",", ":")).encode() + b"\n")


# Text.


def nonsequitur():
    calls = file("ftrace/default.trace")
    names = re.findall(rb"\|  +([\w.]+)\(\);", calls)
    made, now = [], 0
    size = 0
    while size < SIZE:
        for name in names:
            made.append(b"0 %s %d\n1 %s %d\n" % (name, now, name, now + 7))
            now += 10
            size += len(made[-1])
    return b"".join(made)


FORMATS = {
    "perf.data": perf_data,
    "XRay": xray,
    "XRay, YAML": lambda: (
        (yaml := file("xray/basic.yaml"))[: (at := yaml.index(b"records:") + 9)]
        + shifted(yaml[at : yaml.rindex(b"...")], rb"(?<=tsc: )\d+", 10**9)
        + b"...\n"
    ),
    "uftrace": uftrace,
    "ftrace": lambda: lines_after("ftrace/default.trace", b"# |     |   |"),
    "ftrace, with times": lambda: shifted(file("ftrace/abstime.trace"), rb"(?m)(?<=^ )\d+(?=\.\d{6} \|)", 10),
    "perf script": lambda: over_and_over(file("perf-script/system-wide.txt")),
    "JFR": lambda: over_and_over(file("jfr/samples.jfr")),
    "pprof": pprof,
    "OTLP": otlp,
    "OTLP, many messages": otlp_messages,
    "OTLP, JSON": lambda: lines_of_json("otlp/v1.10.json"),
    "Firefox": lambda: repeated_json("firefox/firefox-75.json.zst", firefox),
    "speedscope": lambda: repeated_json("speedscope/py-spy.json", speedscope),
    "speedscope, events": lambda: repeated_json("speedscope/pyinstrument.json", speedscope_events),
    "V8": lambda: repeated_json("cpuprofile/node.cpuprofile", cpuprofile),
    "V8 heap profile": lambda: repeated_json("heapprofile/work.heapprofile", heapprofile),
    "stackprof": lambda: repeated_json("stackprof/cpu.json", stackprof),
    "Perun": lambda: repeated_json("perun/complexity.perf", perun),
    "Chrome, calls": lambda: repeated_json("chrome/viztracer.json", chrome),
    "Chrome, samples": lambda: repeated_json("chrome/node.json", chrome_profile),
    "Perfetto": perfetto,
    "Callgrind": lambda: over_and_over(file("callgrind/threads.callgrind")),
    "DTrace": lambda: lines_after("reports/dtrace.txt", b"tick-60s"),
    "xctrace": lambda: lines_after("reports/xctrace.xml", b'<row><sample-time id="20"', b"</node>"),
    "folded": lambda: over_and_over(file("folded/py-spy.folded")),
    "NonSequitur": nonsequitur,
}


def ingested(sto, recording, store):
    """Returns the processor time in seconds, and the peak memory in MB."""
    shutil.rmtree(store, ignore_errors=True)
    command = [sto, "--store", store, "ingest", recording, "--exe", "app", "--build", "v1"]
    child = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "RAYON_NUM_THREADS": "1"},
    )
    problem = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{recording.name}: {problem}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


def main():
    sto = build() / "sto"
    rows, missed = [], []
    for name in sys.argv[1:] or FORMATS:
        with tempfile.TemporaryDirectory(prefix="sto-readers-") as work:
            recording = Path(work) / re.sub(r"\W+", "-", name)
            if name == "uftrace":
                uftrace(recording)
                size = sum(one.stat().st_size for one in recording.iterdir())
            else:
                # In a separate process, because a child's peak memory includes its parent's memory when it starts.
                making = multiprocessing.Process(target=lambda: recording.write_bytes(FORMATS[name]()))
                making.start()
                making.join()
                if making.exitcode:
                    sys.exit(f"{name}: cannot be made")
                size = recording.stat().st_size
            seconds, memory = min(ingested(sto, recording, Path(work) / "store") for _ in range(2))
        speed = size / 1e6 / seconds
        print(f"{name:24} {size / 1e6:4.0f} MB {seconds:6.2f} s {speed:6.0f} MB/s {memory:6.0f} MB", file=sys.stderr)
        rows.append([name, f"{size / 1e6:,.0f}", f"{seconds:.2f}", f"{speed:,.0f}", f"{memory:,.0f}"])
        if speed < GOAL:
            missed.append(name)
    if sys.argv[1:]:
        return
    of = len(FORMATS)
    append(
        "readers.md",
        [
            *heading("100 MB of each format"),
            "",
            *table(["format", "MB", "CPU s", "MB/s", "peak memory (MB)"], rows),
            "",
            verdict("at the goal", f"{of - len(missed)} of {of}", f"{GOAL} MB/s of one core", not missed),
            "",
            *(f"- not measured: {name} ({why})" for name, why in NOT_MEASURED.items()),
        ],
    )


main()
