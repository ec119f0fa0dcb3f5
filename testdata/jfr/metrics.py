#!/usr/bin/env python3
"""Prints the metrics over time of a recording, of what the JDK's own reader, `jfr print --json`, finds in it: a
line a point, of the metric, nanoseconds since 1970, and the value, with tabs between them."""

import calendar
import json
import re
import subprocess
import sys
from fractions import Fraction

LEVELS = {
    "cpu load: JVM user": ("jdk.CPULoad", "jvmUser", None),
    "cpu load: JVM system": ("jdk.CPULoad", "jvmSystem", None),
    "cpu load: machine total": ("jdk.CPULoad", "machineTotal", None),
    "heap before collection": ("jdk.GCHeapSummary", "heapUsed", "Before GC"),
    "heap after collection": ("jdk.GCHeapSummary", "heapUsed", "After GC"),
    "threads": ("jdk.JavaThreadStatistics", "activeCount", None),
    "context switch rate": ("jdk.ThreadContextSwitchRate", "switchRate", None),
    "physical memory used": ("jdk.PhysicalMemory", "usedSize", None),
}
BUSY = {
    "collections": "jdk.GarbageCollection",
    "collection pauses": "jdk.GCPhasePause",
    "compilations": "jdk.Compilation",
    "VM operations": "jdk.ExecuteVMOperation",
}
TOTALS = {
    "classes loaded": ("jdk.ClassLoadingStatistics", "loadedClassCount"),
    "classes unloaded": ("jdk.ClassLoadingStatistics", "unloadedClassCount"),
    "threads started": ("jdk.JavaThreadStatistics", "accumulatedCount"),
    "exceptions thrown": ("jdk.ExceptionStatistics", "throwables"),
}


def since_1970(text):
    """Nanoseconds, of `2026-11-22T23:41:23.123456789Z`."""
    numbers = re.fullmatch(r"(\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+)(?:\.(\d+))?Z", text).groups()
    return calendar.timegm([int(n) for n in numbers[:6]]) * 10**9 + int((numbers[6] or "").ljust(9, "0"))


def nanoseconds(text):
    """Of `PT1.5S`, or of a minute and more, `PT1M0.5S`."""
    minutes, seconds = re.fullmatch(r"PT(?:(\d+)M)?(?:([\d.]+)S)?", text).groups()
    return int(minutes or 0) * 60 * 10**9 + int(Fraction(seconds or 0) * 10**9)


def events_of(path, name):
    command = ["jfr", "print", "--json", "--events", name, path]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, env={"TZ": "UTC", "PATH": "/usr/bin"}).stdout
    events = json.loads(printed)["recording"]["events"]
    return sorted((since_1970(e["values"]["startTime"]), e["values"]) for e in events if e["type"] == name)


def busy(spans, first, last):
    """How long spans were open, all together, from each border of one to the next, with those of the samples."""
    borders = sorted({first, last}.union(*spans))
    yield borders[0], 0
    for a, b in zip(borders, borders[1:]):
        yield b, sum(b - a for begin, end in spans if begin <= a and b <= end)


def show(name, points):
    for time, value in points:
        print(name, time, value, sep="\t")


path = sys.argv[1]
samples = [time for time, _ in events_of(path, "jdk.ExecutionSample")]
first, last = min(samples), max(samples)
for name, (event, field, when) in LEVELS.items():
    events = [(time, e[field]) for time, e in events_of(path, event) if when in (None, e.get("when"))]
    show(name, dict(events).items())
for name, event in BUSY.items():
    spans = [(time, time + nanoseconds(e["duration"])) for time, e in events_of(path, event)]
    if spans:
        show(name, busy(spans, first, last))
for name, (event, field) in TOTALS.items():
    totals = [(time, e[field]) for time, e in events_of(path, event)]
    show(name, [(totals[0][0], 0)] + [(b, after - before) for (_, before), (b, after) in zip(totals, totals[1:])])
once = [time for time, _ in events_of(path, "jdk.Deoptimization")]
if once:
    first = min(first, *once)
    times = [max(time, first + 1) for time in once]
    show("deoptimizations", [(first, 0)] + [(time, times.count(time)) for time in sorted({last, *times})])
