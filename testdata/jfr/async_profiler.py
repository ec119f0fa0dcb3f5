#!/usr/bin/env python3
"""Writes to standard output a recording as async-profiler 4 writes one with `-e cpu -i 1ms --wall 50ms
--alloc 512k --live --lock 1ms --nativemem 1m -o jfr`, with two chunks: its events, types and constants are
those of src/flightRecorder.cpp and src/jfrMetadata.cpp, without those that tell nothing here."""

import struct
import sys

START = 1_790_000_000_000_000_000  # nanoseconds since 1970
TICKS_PER_SECOND = 2_500_000_000

TYPES = {
    "boolean": 4, "char": 5, "float": 6, "double": 7, "byte": 8, "short": 9, "int": 10, "long": 11,
    "java.lang.String": 20, "java.lang.Class": 21, "java.lang.Thread": 22, "jdk.types.ClassLoader": 23,
    "jdk.types.FrameType": 24, "jdk.types.ThreadState": 25, "jdk.types.StackTrace": 26,
    "jdk.types.StackFrame": 27, "jdk.types.Method": 28, "jdk.types.Package": 30, "jdk.types.Symbol": 31,
    "jdk.ExecutionSample": 101, "jdk.ObjectAllocationInNewTLAB": 102, "jdk.ObjectAllocationOutsideTLAB": 103,
    "jdk.JavaMonitorEnter": 104, "jdk.ThreadPark": 105, "jdk.ActiveRecording": 107, "jdk.ActiveSetting": 108,
    "jdk.OSInformation": 109, "jdk.CPUInformation": 110, "jdk.JVMInformation": 111, "profiler.LiveObject": 117,
    "profiler.WallClockSample": 118, "profiler.Malloc": 119, "jdk.jfr.Label": 201, "jdk.jfr.Timestamp": 204,
    "jdk.jfr.Timespan": 205, "jdk.jfr.DataAmount": 206, "jdk.jfr.Unsigned": 208,
}  # fmt: skip
# Fields by type: `name type`, `*` for a constant, `[]` for an array, `@ticks`, `@span` and `@bytes`.
TIME = "startTime long@ticks"
THREAD = "eventThread java.lang.Thread*"
STACK = "stackTrace jdk.types.StackTrace*"
CLASS = "objectClass java.lang.Class*"
FIELDS = {
    "java.lang.Class": ["classLoader jdk.types.ClassLoader*", "name jdk.types.Symbol*", "package jdk.types.Package*", "modifiers int"],
    "java.lang.Thread": ["osName java.lang.String", "osThreadId long", "javaName java.lang.String", "javaThreadId long"],
    "jdk.types.ClassLoader": ["type java.lang.Class*", "name jdk.types.Symbol*"],
    "jdk.types.FrameType": ["description java.lang.String"],
    "jdk.types.ThreadState": ["name java.lang.String"],
    "jdk.types.StackTrace": ["truncated boolean", "frames jdk.types.StackFrame[]"],
    "jdk.types.StackFrame": ["method jdk.types.Method*", "lineNumber int", "bytecodeIndex int", "type jdk.types.FrameType*"],
    "jdk.types.Method": ["type java.lang.Class*", "name jdk.types.Symbol*", "descriptor jdk.types.Symbol*", "modifiers int", "hidden boolean"],
    "jdk.types.Package": ["name jdk.types.Symbol*"],
    "jdk.types.Symbol": ["string java.lang.String"],
    "jdk.ExecutionSample": [TIME, "sampledThread java.lang.Thread*", STACK, "state jdk.types.ThreadState*"],
    "jdk.ObjectAllocationInNewTLAB": [TIME, THREAD, STACK, CLASS, "allocationSize long@bytes", "tlabSize long@bytes"],
    "jdk.ObjectAllocationOutsideTLAB": [TIME, THREAD, STACK, CLASS, "allocationSize long@bytes"],
    "jdk.JavaMonitorEnter": [TIME, "duration long@span", THREAD, STACK, "monitorClass java.lang.Class*", "previousOwner java.lang.Thread*", "address long"],
    "jdk.ThreadPark": [TIME, "duration long@span", THREAD, STACK, "parkedClass java.lang.Class*", "timeout long", "until long", "address long"],
    "jdk.ActiveRecording": [TIME, "id long", "name java.lang.String", "destination java.lang.String", "maxAge long", "maxSize long", "recordingStart long", "recordingDuration long"],
    "jdk.ActiveSetting": [TIME, "id long", "name java.lang.String", "value java.lang.String"],
    "jdk.OSInformation": [TIME, "osVersion java.lang.String"],
    "jdk.CPUInformation": [TIME, "cpu java.lang.String", "description java.lang.String", "sockets int", "cores int", "hwThreads int"],
    "jdk.JVMInformation": [TIME, "jvmName java.lang.String", "jvmVersion java.lang.String", "jvmArguments java.lang.String", "jvmFlags java.lang.String", "javaArguments java.lang.String", "jvmStartTime long", "pid long"],
    "profiler.LiveObject": [TIME, THREAD, STACK, CLASS, "allocationSize long@bytes", "allocationTime long@ticks"],
    "profiler.WallClockSample": [TIME, "sampledThread java.lang.Thread*", STACK, "state jdk.types.ThreadState*", "samples int"],
    "profiler.Malloc": [TIME, THREAD, STACK, "address long", "size long@bytes"],
    "jdk.jfr.Label": ["value java.lang.String"],
    "jdk.jfr.Timestamp": ["value java.lang.String"],
    "jdk.jfr.Timespan": ["value java.lang.String"],
    "jdk.jfr.DataAmount": ["value java.lang.String"],
}  # fmt: skip
ANNOTATIONS = {
    "ticks": ("jdk.jfr.Timestamp", "TICKS"),
    "span": ("jdk.jfr.Timespan", "TICKS"),
    "bytes": ("jdk.jfr.DataAmount", "BYTES"),
}


def number(value):
    out = bytearray()
    while value > 0x7F and len(out) < 8:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def text(value):
    return b"\0" if value is None else b"\3" + number(len(value.encode())) + value.encode()


def event(kind, *values):
    body = number(TYPES.get(kind, kind))
    body += b"".join(number(v) if isinstance(v, int) else v for v in values)
    # As a number of five bytes, whatever it is.
    size = len(body) + 5
    return bytes([size & 0x7F | 0x80, size >> 7 & 0x7F | 0x80, size >> 14 & 0x7F | 0x80, 0x80, 0]) + body


def metadata():
    strings = {}

    def string(value):
        return number(strings.setdefault(value, len(strings)))

    def element(name, attributes, children=()):
        out = string(name) + number(len(attributes))
        out += b"".join(string(key) + string(value) for key, value in attributes.items())
        return out + number(len(children)) + b"".join(children)

    def annotation(of, value):
        return element("annotation", {"class": str(TYPES[of]), "value": value})

    def field(described):
        name, of = described.split()
        of, _, unit = of.partition("@")
        attributes = {"name": name, "class": str(TYPES[of.rstrip("*[]")])}
        if of.endswith("*"):
            attributes["constantPool"] = "true"
        if of.endswith("[]"):
            attributes["dimension"] = "1"
        return element("field", attributes, [annotation(*ANNOTATIONS[unit])] if unit else [])

    def class_(name):
        attributes = {"name": name, "id": str(TYPES[name])}
        if name in ("jdk.types.FrameType", "jdk.types.ThreadState", "jdk.types.Symbol"):
            attributes["simpleType"] = "true"
        elif TYPES[name] > 200:
            attributes["superType"] = "java.lang.annotation.Annotation"
        elif TYPES[name] > 100:
            attributes["superType"] = "jdk.jfr.Event"
        return element("class", attributes, [field(described) for described in FIELDS.get(name, [])])

    region = element("region", {"locale": "en_US", "gmtOffset": "0"})
    root = element("root", {}, [element("metadata", {}, [class_(name) for name in TYPES]), region])
    table = number(len(strings)) + b"".join(text(value) for value in strings)
    return event(0, 0, 0, 0x7FFFFFFF, table, root)


KINDS = ["Interpreted", "JIT compiled", "Inlined", "Native", "C++", "Kernel", "C1 compiled"]
THREADS = {4711: "main", 4712: "worker-1", 4713: None}
# Leaf first: class or library, method, line, kind.
MAIN = [("java/lang/Thread", "run", 840, 0), ("libjvm.so", "JavaThread::run()", 0, 4), ("libc.so.6", "clone3", 0, 3)]
STACKS = {
    1: [("app/Work", "mix", 21, 2), ("app/Work", "hash", 27, 1), ("app/Work$$Lambda.0x000078f8b0007c28", "run", 0, 6), *MAIN],
    2: [("kernel", "do_syscall_64", 0, 5), ("libc.so.6", "__read", 0, 3), ("java/io/FileInputStream", "readBytes", 0, 1), *MAIN],
    3: [("", "[unknown_Java]", 0, 3), ("app/Work", "allocate", 35, 1), *MAIN],
    4: [("libjvm.so", "Parker::park(bool, long)", 0, 4), ("jdk/internal/misc/Unsafe", "park", 0, 1), ("app/Work", "hold", 42, 6), *MAIN],
}  # fmt: skip


def constants():
    symbols, classes, methods = {"": 1}, {}, {}

    def symbol(name):
        return symbols.setdefault(name, len(symbols) + 1)

    def method(owner, name):
        key = (classes.setdefault(owner, len(classes) + 1), symbol(name))
        symbol(owner)
        return methods.setdefault(key, len(methods) + 1)

    def pool(of, entries):
        return number(TYPES[of]) + number(len(entries)) + b"".join(entries)

    traces = []
    for key, frames in STACKS.items():
        trace = number(key) + b"\0" + number(len(frames))
        for owner, name, line, kind in frames:
            trace += number(method(owner, name)) + number(line) + number(0) + number(kind)
        traces.append(trace)
    threads = [
        number(tid) + text(name or f"[tid={tid}]") + number(tid) + text(name) + number(tid - 4700 if name else 0)
        for tid, name in THREADS.items()
    ]
    pools = [
        pool("jdk.types.FrameType", [number(key) + text(kind) for key, kind in enumerate(KINDS)]),
        pool("jdk.types.ThreadState", [number(1) + text("STATE_RUNNABLE"), number(2) + text("STATE_SLEEPING")]),
        pool("java.lang.Thread", threads),
        pool("jdk.types.StackTrace", traces),
        pool("jdk.types.Method", [number(key) + number(of) + number(name) + number(1) + number(0) + b"\0" for (of, name), key in methods.items()]),
        pool("java.lang.Class", [number(key) + number(0) + number(symbol(name)) + number(0) + number(0) for name, key in classes.items()]),
        pool("jdk.types.Symbol", [number(key) + text(name) for name, key in symbols.items()]),
    ]  # fmt: skip
    return event(1, 0, 0, 0, 1, len(pools), *pools)


def chunk(place, events):
    """A chunk that begins so many seconds behind the first."""
    types = metadata()
    body = types + b"".join(events)
    pools = constants()
    size = 68 + len(body) + len(pools)
    header = struct.pack(
        ">4sHHqqqqqqqI",
        *(b"FLR\0", 2, 0, size, 68 + len(body), 68, START + place * 10**9, 10**9),
        *(place * TICKS_PER_SECOND, TICKS_PER_SECOND, 1),
    )
    return header + body + pools


def setting(of, name, value):
    return event("jdk.ActiveSetting", 0, TYPES[of], text(name), text(value))


ABOUT = [
    event("jdk.ActiveRecording", 0, 1, text("async-profiler 4.0"), text("async-profiler.jfr"), *([0] * 4)),
    setting("jdk.ActiveRecording", "version", "4.0"),
    setting("jdk.ActiveRecording", "engine", "perf"),
    setting("jdk.ActiveRecording", "event", "cpu"),
    setting("jdk.ExecutionSample", "interval", "1000000"),
    setting("jdk.ExecutionSample", "wall", "50000000"),
    event("jdk.OSInformation", 0, text("uname: Linux 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC x86_64")),
    event("jdk.CPUInformation", 0, text("x86_64"), text("Intel(R) Xeon(R) Processor"), 1, 2, 2),
    event("jdk.JVMInformation", 0, text("OpenJDK"), text("21"), text("-Xmx1g"), text(None), text("/opt/app.jar 2500"), 0, 4711),
]  # fmt: skip


def samples(second):
    def at(milliseconds):
        return (second * 1000 + milliseconds) * TICKS_PER_SECOND // 1000

    return [
        event("jdk.ExecutionSample", at(1), 4712, 1, 1),
        event("jdk.ExecutionSample", at(3), 4712, 1, 1),
        event("jdk.ExecutionSample", at(2), 4711, 2, 1),
        event("profiler.WallClockSample", at(150), 4713, 4, 2, 3),
        event("profiler.WallClockSample", at(200), 4712, 1, 1, 1),
        event("jdk.ObjectAllocationInNewTLAB", at(4), 4712, 3, 1, 1_016, 524_288),
        event("jdk.ObjectAllocationOutsideTLAB", at(5), 4712, 3, 1, 1_000_016),
        event("profiler.LiveObject", at(6), 4712, 3, 1, 1_016, at(4)),
        event("profiler.Malloc", at(7), 4712, 2, 0x7F00_0000_1000, 1 << 20),
        event("jdk.JavaMonitorEnter", at(8), at(5) - at(3), 4711, 4, 1, 4712, 0x7000_0000),
        event("jdk.ThreadPark", at(9), at(7) - at(4), 4713, 4, 1, 0, 0, 0x7000_0000),
    ]


sys.stdout.buffer.write(chunk(0, ABOUT + samples(0)) + chunk(1, samples(1)))
