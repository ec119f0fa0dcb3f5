"""Steps through a program that gdb debugs, and writes what `perf record` would have of every third instruction.

Registers, stack and mappings are the process's own, in the layouts of perf_event_open(2) and of
tools/perf/Documentation/perf.data-file-format.txt (pipe mode) in the sources of Linux. The call chains of `fp` are
those that arch/arm64/kernel/perf_callchain.c makes. With NAMES, what gdb says of each stack is written instead: it
knows no signed return addresses here, so the same steps are taken on a processor that signs none.
"""

import os
import struct

import gdb

STACK = 512
CONTEXT_USER = 2**64 - 512
IP, TID, TIME, CALLCHAIN, PERIOD, REGS_USER, STACK_USER = 1, 2, 4, 1 << 5, 1 << 8, 1 << 12, 1 << 13
USER = 2
LR = 1 << 30
ALL = (1 << 33) - 1
PID = 10


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def text(string):
    data = string.encode() + b"\0"
    return data + b"\0" * (-len(data) % 8)


def attr(sample_type, user_regs):
    event = struct.pack("<IIQQQQQ", 1, 112, 0, 1_000_000, sample_type, 0, 0)
    event += struct.pack("<IIQQQQIiQII", 0, 0, 0, 0, 0, user_regs, 0, 0, 0, 0, 0)
    return record(64, 0, event + struct.pack("<Q", 7))


def arch(name):
    """`PERF_RECORD_HEADER_FEATURE` of `HEADER_ARCH`."""
    name = name.encode().ljust(64, b"\0")
    return record(80, 0, struct.pack("<QI", 6, len(name)) + name)


def mmap(name, start, size, build_id):
    fixed = struct.pack("<IIQQQ", PID, PID, start, size, 0)
    fixed += struct.pack("<BBH20sII", len(build_id), 0, 0, build_id, 5, 2)
    return record(10, USER | 1 << 14, fixed + text(name))


def register(name):
    return int(gdb.parse_and_eval("$" + name)) % 2**64


def read(address, size):
    try:
        return bytes(gdb.selected_inferior().read_memory(address, size))
    except gdb.MemoryError:
        return b""


def chain(pc, fp):
    """Frame records, from the newest on; signatures are taken off of return addresses."""
    addresses = [pc]
    while fp != 0 and fp % 16 == 0 and len(pair := read(fp, 16)) == 16:
        fp, lr = struct.unpack("<QQ", pair)
        if lr == 0:
            break
        addresses.append(lr % 2**48)
    return addresses


def sample(number, mode):
    pc, lr, sp, fp = (register(name) for name in ("pc", "x30", "sp", "x29"))
    body = struct.pack("<QIIQQ", pc, PID, PID, 1_000_000 * (number + 1), 1_000_000)
    if mode == "dwarf":
        regs = [register(f"x{i}") for i in range(31)] + [sp, pc]
        size = next(size for size in range(STACK, -1, -8) if size == 0 or read(sp, size))
        body += struct.pack("<QQ", 0, 2) + struct.pack("<33Q", *regs)
        body += struct.pack("<Q", size) + read(sp, size) + struct.pack("<Q", size)
    else:
        addresses = [CONTEXT_USER] + chain(pc, fp)
        body += struct.pack("<Q", len(addresses)) + struct.pack(f"<{len(addresses)}Q", *addresses)
        body += struct.pack("<QQ", 2, lr)
    return record(9, USER, body)


def names():
    """What gdb says of the stack, root first."""
    frame, found = gdb.newest_frame(), []
    while frame is not None:
        found.append(frame.name() or "?")
        frame = frame.older()
    return ";".join(reversed(found))


mode = os.environ["MODE"]
program = f"calls-{mode}"
build_id = bytes.fromhex(os.environ["BUILD_ID"])
start = register("pc") - int(os.environ["ENTRY"], 16)
fields = IP | TID | TIME | CALLCHAIN | PERIOD | REGS_USER
out = b"PERFILE2" + struct.pack("<Q", 16)
out += attr(fields | (STACK_USER if mode == "dwarf" else 0), ALL if mode == "dwarf" else LR)
out += arch("aarch64") + record(3, 0, struct.pack("<II", PID, PID) + text(program))
out += mmap(f"/srv/{program}", start, 0x1000, build_id)
expected = []
while gdb.selected_inferior().pid != 0:
    out += sample(len(expected), mode)
    expected.append(names() + "\n")
    # The last of them ends the program.
    gdb.execute("stepi 3", to_string=True)
if "NAMES" in os.environ:
    with open(f"{mode}.expected", "w") as file:
        file.writelines(expected)
else:
    with open(f"{mode}.perf.data", "wb") as file:
        file.write(out)
