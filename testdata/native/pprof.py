#!/usr/bin/env python3
"""Writes beside each file what `go tool pprof` reads in it: a line for each stack, its values and its places, leaf first."""
import collections
import re
import subprocess
import sys

for path in sys.argv[1:]:
    read = path
    with open(path, "rb") as file:
        text = file.read()
    if text.startswith(b"heap_v2/"):
        # Go's pprof takes tcmalloc's lines alone.
        text = re.sub(rb"\A(heap_v2/\d+)\n  t\*: (.*)", rb"heap profile: \2 @ \1", text)
        text = re.sub(rb"\n(@.*)\n  t\*: (.*)", rb"\n\2 \1", text)
        text = re.sub(rb"\n  t\d+:.*", b"", text)
        read = "/tmp/tcmalloc.heap"
        with open(read, "wb") as file:
            file.write(text)
    command = ["go", "tool", "pprof", "-symbolize=none", "-raw", read]
    raw = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    head, rest = raw.split("Locations\n")
    locations, mappings = rest.split("Mappings\n")
    mapped = {}
    for line in mappings.splitlines():
        if found := re.match(r"(\d+): 0x(\w+)/0x\w+/0x(\w+) ?(\S*)", line):
            number, start, offset, file = found.groups()
            mapped[number] = (int(start, 16), int(offset, 16), file)
    places = {}
    for line in locations.splitlines():
        number, address, mapping = re.match(r" *(\d+): 0x(\w+)(?: M=(\d+))?", line).groups()
        start, offset, file = mapped.get(mapping, (0, 0, ""))
        address = int(address, 16)
        is_file = file.startswith("/") or not file.startswith("[")
        place = address - start + offset if is_file else address
        places[number] = f"{file.rsplit('/')[-1]}+{place:#x}" if file else "?"
    types = head.split("Samples:\n")[1].splitlines()[0].replace("[dflt]", "")
    sums = collections.defaultdict(lambda: [0] * len(types.split()))
    for line in head.splitlines():
        if found := re.match(r" *(\d[\d ]*): ?([\d ]*)$", line):
            stack = " ".join(places[number] for number in found[2].split())
            for index, value in enumerate(found[1].split()):
                sums[stack][index] += int(value)
    with open(path + ".pprof", "w") as out:
        print(types.rstrip(), file=out)
        for stack, values in sorted(sums.items()):
            print(*values, stack, file=out)
