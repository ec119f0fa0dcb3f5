#!/usr/bin/env python3
"""Prints what the JDK's own reader, `jfr print --json`, finds in a recording, in the form of our goldens:
the samples of each event, by thread and stack, root first."""

import collections
import json
import pathlib
import re
import struct
import subprocess
import sys
from decimal import Decimal
from xml.etree import ElementTree

KINDS = {
    "Interpreted": " (interpreted)",
    "JIT compiled": " (jit)",
    "C1 compiled": " (jit-baseline)",
    "Inlined": " (inlined)",
    "Kernel": " (kernel)",
}
VALUES = {  # the field of the value, and its unit
    "jdk.ObjectAllocationSample": ("weight", "bytes"),
    "jdk.ObjectAllocationInNewTLAB": ("tlabSize", "bytes"),
    "jdk.ObjectAllocationOutsideTLAB": ("allocationSize", "bytes"),
    "profiler.LiveObject": ("allocationSize", "bytes"),
    "profiler.Malloc": ("size", "bytes"),
    "jdk.JavaMonitorEnter": ("duration", "ns"),
    "jdk.ThreadPark": ("duration", "ns"),
    "datadog.ObjectSample": ("size", "bytes"),
    "datadog.HeapLiveObject": ("size", "bytes"),
    "datadog.NativeMemoryAllocation": ("size", "bytes"),
}
SAMPLED = [
    "jdk.ExecutionSample",
    "jdk.NativeMethodSample",
    "profiler.WallClockSample",
    "datadog.ExecutionSample",
    "datadog.MethodSample",
]
SETTINGS = ["jdk.ActiveSetting", "datadog.DatadogProfilerConfig"]
# Events of async-profiler whose interval is a time.
TIMES = ["cpu", "itimer", "ctimer", "wall"]
NANOSECONDS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "S": 10**9}


def events_of(path):
    names = ",".join([*SAMPLED, *VALUES, *SETTINGS])
    command = ["jfr", "print", "--json", "--stack-depth", "2048", "--events", names, path]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    return json.loads(printed, parse_float=Decimal)["recording"]["events"]


def float32(printed):
    """What was printed with as many digits as tell it from the next float."""
    return struct.unpack("f", struct.pack("f", printed))[0]


def nanoseconds(text):
    """A time as settings have it (`20 ms`), or ISO 8601 (`PT0.02S`)."""
    number, unit = re.fullmatch(r"(?:PT)?([\d.]+) ?(\w+)", text).groups()
    return int(Decimal(number) * NANOSECONDS[unit])


def periods(path, events):
    """What a sample stands for: as the settings have it that the JDK recorded with, else as async-profiler
    or Datadog's profiler says; nothing where the recording does not tell."""
    for event in events:
        if event["type"] == "datadog.DatadogProfilerConfig":
            return {
                "datadog.ExecutionSample": nanoseconds(event["values"]["cpuInterval"]),
                "datadog.MethodSample": nanoseconds(event["values"]["wallInterval"]),
            }
    said = {e["values"]["name"]: e["values"]["value"] for e in events if e["type"] == "jdk.ActiveSetting"}
    if not said:
        return {}
    settings = pathlib.Path(path).with_suffix(".jfc")
    if settings.exists():
        return {
            event.get("name"): nanoseconds(setting.text)
            for event in ElementTree.parse(settings).getroot()
            for setting in event
            if setting.get("name") == "period" and event.get("name") in SAMPLED
        }
    periods = {"jdk.ExecutionSample": int(said["interval"]) if said.get("event") in TIMES else 0}
    periods["profiler.WallClockSample"] = int(said["interval"] if said.get("event") == "wall" else said.get("wall", 0))
    return {name: period for name, period in periods.items() if period > 0}


def frame(found, of_async_profiler):
    method, kind = found["method"], found["type"]
    name, owner = method["name"], method["type"]["name"]
    if kind == "Kernel":
        text = f"[kernel]!{name}"
    elif kind == "C++" or (kind == "Native" and (of_async_profiler or not owner)):
        if not owner and name.startswith("/"):  # code without a symbol
            owner = name.rpartition("/")[2]
            name = f"[{owner}]"
        elif not owner and name == "unknown":  # code in no library
            name = "[unknown]"
        text = f"{owner}!{name}" if owner else name
        text += " (unresolved)" if name.startswith("[") else ""
    else:
        text = re.sub(r"/(?!\d)", ".", owner) + "." + name
    line = f":{found['lineNumber']}" if found["lineNumber"] > 0 else ""
    return text + KINDS.get(kind, "") + line


def main(path):
    events = events_of(path)
    period = periods(path, events)
    of_async_profiler = any(e["type"] == "jdk.ActiveSetting" and e["values"]["name"] == "event" for e in events)
    samples, sums = collections.Counter(), collections.Counter()
    for event in events:
        name, values = event["type"], event["values"]
        if name in SETTINGS:
            continue
        count = values.get("samples", 1)
        weight = values.get("weight", 1) if name.startswith("datadog.") else 1
        if name in SAMPLED:
            count *= weight
            value, unit = (count * period[name], "ns") if name in period else (count, "samples")
        else:
            field, unit = VALUES[name]
            value = nanoseconds(values[field]) if unit == "ns" else values[field]
            value = round(value * float32(weight)) if weight != 1 else value
        thread = values.get("sampledThread") or values["eventThread"]
        thread = thread["javaName"] or thread["osName"]
        stack = values["stackTrace"] or {"truncated": False, "frames": []}
        cut = ", cut" if stack["truncated"] else ""
        frames = ";".join(frame(f, of_async_profiler) for f in reversed(stack["frames"]))
        frames = frames or "[unknown] (unresolved)"
        key = f"{name} in {unit}, {thread}{cut}: {frames}"
        samples[key] += count
        sums[key] += value
    for key in sorted(sums):
        print(key, samples[key], sums[key])


main(sys.argv[1])
