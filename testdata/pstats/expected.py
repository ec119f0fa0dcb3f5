"""Writes what `pstats` says of the statistics here: name, line, own and total nanoseconds of each function."""
from __future__ import print_function
import pstats
import sys

for path in sys.argv[1:]:
    with open(path.rsplit(".", 1)[0] + ".tsv", "w") as out:
        for (_, line, name), (_, _, own, total, _) in sorted(pstats.Stats(path).stats.items()):
            print(name, line, int(round(own * 1e9)), int(round(total * 1e9)), sep="\t", file=out)
