#!/usr/bin/env python3
"""Prints what a recording of simpleperf holds, read with nothing but Python: of each event how many samples there are and
what they cost, and each function's own, by its file."""

import collections
import gzip
import struct
import sys

NO_SYMBOL = (1 << 64) - 1


def varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, at


def fields(data):
    """Numbers and values of a message that has numbers and parts alone."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at : at + value], at + value
        yield key >> 3, value


def records(data):
    at = len("SIMPLEPERF") + 2
    while (size := struct.unpack_from("<I", data, at)[0]) > 0:
        yield from fields(data[at + 4 : at + 4 + size])
        at += 4 + size


def main(path):
    files, events, samples = {}, [], []
    for kind, record in records(gzip.open(path).read()):
        if kind == 1:
            samples.append(list(fields(record)))
        elif kind == 3:
            file = list(fields(record))
            symbols = [value.decode() for key, value in file if key == 3]
            of = dict(file)
            files[of[1]] = of[2].decode().rpartition("/")[2], symbols
        elif kind == 5:
            events += [value.decode() for key, value in fields(record) if key == 1]
    totals, own = collections.Counter(), collections.Counter()
    for sample in samples:
        of = dict(sample)
        event = events[of.get(5, 0)]
        totals[event] += 1
        totals[event, "value"] += of[4]
        frames = [dict(fields(value)) for key, value in sample if key == 3]
        if not frames:
            own[event, "", "[unknown]"] += 1
            continue
        leaf = frames[0]
        name, symbols = files[leaf[2]]
        symbol = leaf.get(3, 0)
        has_symbol = symbol < 1 << 31
        own[event, name, symbols[symbol] if has_symbol else "no symbol"] += 1
    for event in events:
        print(f"{event}: {totals[event]} samples, {totals[event, 'value']}")
    for (event, file, symbol), count in sorted(own.items()):
        print(f"{event}: {count} in {file} {symbol}")


main(sys.argv[1])
