"""Keeps of a jitdump the pieces of code whose names fit a pattern: trim_jitdump.py PATTERN FILE."""

import re
import struct
import sys

pattern, path = re.compile(sys.argv[1].encode()), sys.argv[2]
with open(path, "rb") as file:
    data = file.read()
at = struct.unpack_from("<I", data, 8)[0]
kept = [data[:at]]
about_next = []
while at < len(data):
    kind, size = struct.unpack_from("<II", data, at)
    record = data[at : at + size]
    at += size
    if kind == 0:
        name = record[56 : record.index(b"\0", 56)]
        if pattern.search(name):
            kept += [*about_next, record]
        about_next = []
    else:
        # Lines and unwinding rules stand before the code that they are of.
        about_next.append(record)
with open(path, "wb") as file:
    file.write(b"".join(kept))
