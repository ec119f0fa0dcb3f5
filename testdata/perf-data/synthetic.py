"""Writes the recordings of this folder that need hardware or a virtual machine to make.

The layouts are those of perf_event_open(2) and of
tools/perf/Documentation/perf.data-file-format.txt (pipe mode) in the sources of Linux.
"""

import struct

IP, TID, TIME, READ, CALLCHAIN, ID, PERIOD = 1, 2, 4, 1 << 4, 1 << 5, 1 << 6, 1 << 8
BRANCH_STACK, REGS_USER, STACK_USER = 1 << 11, 1 << 12, 1 << 13
BRANCH_USER, BRANCH_ANY, BRANCH_CALL_STACK = 1, 1 << 3, 1 << 11
BRANCH_HW_INDEX, BRANCH_COUNTERS = 1 << 17, 1 << 19
REG_BP, REG_SP, REG_IP = 1 << 6, 1 << 7, 1 << 8
READ_ENABLED, READ_RUNNING, READ_ID, READ_GROUP = 1, 2, 4, 8
INHERIT = 1 << 1
KERNEL, USER, GUEST_KERNEL, GUEST_USER = 1, 2, 4, 5
FORK_EXEC = 1 << 13
CONTEXT_KERNEL, CONTEXT_USER = 2**64 - 128, 2**64 - 512
PROGRAM = 0x400000


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def text(string):
    data = string.encode() + b"\0"
    return data + b"\0" * (-len(data) % 8)


def attr(sample_type, branch_sample_type=0, user_regs=0, id=7, read_format=0, flags=0):
    """`PERF_RECORD_HEADER_ATTR` of cpu-clock, every millisecond."""
    event = struct.pack("<IIQQQQQ", 1, 112, 0, 1_000_000, sample_type, read_format, flags)
    event += struct.pack("<IIQQQQIiQII", 0, 0, 0, 0, branch_sample_type, user_regs, 0, 0, 0, 0, 0)
    return record(64, 0, event + struct.pack("<Q", id))


def group(first, events):
    """`PERF_RECORD_HEADER_FEATURE` of `HEADER_GROUP_DESC` with one group."""
    name = b"{anon_group}".ljust(64, b"\0")
    desc = struct.pack("<II", 1, len(name)) + name + struct.pack("<II", first, events)
    return record(80, 0, struct.pack("<Q", 17) + desc)


def comm(name, pid=10):
    return record(3, 0, struct.pack("<II", pid, pid) + text(name))


def ran_before(pid, parent):
    """`PERF_RECORD_FORK`, as perf writes it for a process that it did not see begin."""
    return record(7, FORK_EXEC, struct.pack("<IIIIQ", pid, parent, pid, parent, 0))


def mmap(name, pid=10):
    fixed = struct.pack("<IIQQQIIQQII", pid, pid, PROGRAM, 0x10000, 0, 0, 0, 99, 0, 5, 2)
    return record(10, USER, fixed + text(name))


def sample(mode, ip, time, chain, branches=None):
    body = struct.pack("<QIIQQ", ip, 10, 10, time, 1_000_000)
    body += struct.pack(f"<Q{len(chain)}Q", len(chain), *chain)
    if branches is not None:
        body += struct.pack("<Q", len(branches))
        for source, target in branches:
            body += struct.pack("<QQQ", source, target, 0)
    return record(9, mode, body)


def unwound(id, time, counters):
    """A sample with a stack that frame pointers lead through, behind branches and their counters.

    `perf_output_sample` of kernel/events/core.c writes the counters of all branches behind them."""
    body = struct.pack("<QIIQQQ", PROGRAM + 0x3008, 10, 10, time, id, 1_000_000)
    body += struct.pack("<QQ", len(calls), 0)
    for source, target in calls:
        body += struct.pack("<QQQ", source, target, 0)
    body += struct.pack(f"<{len(counters)}Q", *counters)
    stack = struct.pack("<QQQQ", 0x7010, PROGRAM + 0x2010, 0, PROGRAM + 0x1010)
    body += struct.pack("<QQQQ", 2, 0x7000, 0x7000, PROGRAM + 0x3008)
    body += struct.pack("<Q", len(stack)) + stack + struct.pack("<Q", len(stack))
    return record(9, USER, body)


def counted(tid, time, times, values):
    """A sample of a group's leader, with how long the group was enabled and counted, and its counters."""
    body = struct.pack("<QIIQQQ", PROGRAM + 0x3008, 10, tid, time, 1, 1_000_000)
    body += struct.pack("<QQQ", len(values), *times)
    for id, value in values.items():
        body += struct.pack("<QQ", value, id)
    return record(9, USER, body + struct.pack("<QQQ", 2, CONTEXT_USER, PROGRAM + 0x3008))


def write(name, *records):
    with open(name, "wb") as file:
        file.write(b"PERFILE2" + struct.pack("<Q", 16) + b"".join(records))


stack = IP | TID | TIME | PERIOD | CALLCHAIN
# main (0x1000) calls work (0x2000), which calls leaf (0x3000).
calls = [(PROGRAM + 0x2010, PROGRAM + 0x3000), (PROGRAM + 0x1010, PROGRAM + 0x2000)]
write(
    "lbr.perf.data",
    attr(stack | BRANCH_STACK, BRANCH_USER | BRANCH_CALL_STACK),
    comm("lbr"),
    mmap("/bin/lbr"),
    sample(USER, PROGRAM + 0x3008, 1, [CONTEXT_USER, PROGRAM + 0x3008], calls),
    sample(
        KERNEL,
        2**64 - 0x1000_0000,
        2,
        [CONTEXT_KERNEL, 2**64 - 0x1000_0000, CONTEXT_USER, PROGRAM + 0x3008],
        calls,
    ),
    # Nothing was called yet.
    sample(USER, PROGRAM + 0x1008, 3, [CONTEXT_USER, PROGRAM + 0x1008], []),
)
# The kernel writes counters with each sample of a group if one event of it asks for them.
unwinding = IP | TID | TIME | ID | PERIOD | BRANCH_STACK | REGS_USER | STACK_USER
branches = BRANCH_USER | BRANCH_ANY | BRANCH_HW_INDEX
write(
    "branch-counters.perf.data",
    attr(unwinding, branches, REG_BP | REG_SP | REG_IP, id=1),
    attr(unwinding, branches, REG_BP | REG_SP | REG_IP, id=2),
    attr(unwinding, branches | BRANCH_COUNTERS, REG_BP | REG_SP | REG_IP, id=3),
    group(first=1, events=2),
    comm("counted"),
    mmap("/bin/counted"),
    unwound(1, 1, []),
    unwound(2, 2, [1, 2]),
    unwound(3, 3, [3, 4]),
)
write(
    "guest.perf.data",
    attr(stack),
    comm("vcpu"),
    mmap("/bin/vcpu"),
    sample(GUEST_KERNEL, 2**64 - 0x1000_0000, 1, []),
    sample(GUEST_USER, PROGRAM + 0x1008, 2, []),
    sample(USER, PROGRAM + 0x1008, 3, [CONTEXT_USER, PROGRAM + 0x1008]),
)
write(
    "ran-before.perf.data",
    attr(stack),
    comm("sh", pid=9),
    mmap("/bin/sh", pid=9),
    ran_before(10, parent=9),
    comm("child"),
    mmap("/bin/child"),
    sample(USER, PROGRAM + 0x1008, 1, [CONTEXT_USER, PROGRAM + 0x1008]),
)
# Counters that had to wait for the processor's, in two threads: a perf that inherits such groups (6.13) has them
# under the same ids.
counting = IP | TID | TIME | ID | PERIOD | READ | CALLCHAIN
reading = READ_ENABLED | READ_RUNNING | READ_ID | READ_GROUP
write(
    "waiting-counters.perf.data",
    attr(counting, id=1, read_format=reading, flags=INHERIT),
    attr(counting, id=2, read_format=reading, flags=INHERIT),
    group(first=0, events=2),
    comm("counted"),
    mmap("/bin/counted"),
    counted(10, 100, (100, 100), {1: 1000, 2: 10}),
    counted(11, 150, (50, 50), {1: 7, 2: 3}),
    counted(10, 200, (200, 150), {1: 1500, 2: 20}),
    counted(11, 250, (150, 150), {1: 107, 2: 13}),
)
