"""Writes what memray's own reader says of the recordings that are named, by stack, as the tests write it.

It must be of the version that made them.
"""
import collections
import os
import re
import sys

from memray import AllocatorType, FileFormat, FileReader

FREES = {AllocatorType.FREE, AllocatorType.MUNMAP, AllocatorType.PYMALLOC_FREE}


def records(reader):
    if reader.metadata.file_format == FileFormat.ALL_ALLOCATIONS:
        for record in reader.get_allocation_records():
            if record.allocator not in FREES:
                yield "allocated", record
    for record in reader.get_high_watermark_allocation_records(merge_threads=False):
        yield "peak", record
    for record in reader.get_leaked_allocation_records(merge_threads=False):
        yield "at-end", record


def short(path):
    return re.sub("^/(root|home/[^/]+)/", "", path)


for path in sys.argv[1:]:
    costs = collections.Counter()
    found = list(records(FileReader(path)))
    # A thread may allocate before it has its name.
    names = {record.tid: record.thread_name for _, record in found if record.thread_name}
    for event, record in found:
        stack = record.stack_trace()[::-1]
        text = ";".join(name for name, _, _ in stack) or "[unknown] (unresolved)"
        if stack:
            text += " %s:%d" % (short(stack[-1][1]), stack[-1][2])
        key = (event, f"[{names.get(record.tid, str())}]: {text}")
        costs[key, 0] += record.n_allocations
        costs[key, 1] += record.size
    lines = []
    for event, text in {key for key, _ in costs}:
        samples, value = (costs[(event, text), ix] for ix in (0, 1))
        lines.append(f"{event} {samples} {value} bytes {text}\n")
    with open(path + ".expected", "w") as out:
        out.writelines(sorted(lines))
