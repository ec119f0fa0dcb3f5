"""Compares the self counts of `sto top` with `perf report --no-children`, function by function.

    python3 benches/agreement.py PATH_OF_STO PERF.DATA...

Prints a line of Markdown for each recording, and every function with different counts. perf prints
an address for code without a symbol; these samples are counted together by module.
"""

import json
import re
import subprocess
import sys

ROW = re.compile(r"\s*(\d+)\s+(\S+)\s+\[.\]\s+(.*?)\s*$")


def perf_report(path):
    command = ["perf", "report", "-i", path, "--no-children", "--stdio", "-g", "none"]
    command += ["-F", "sample,dso,symbol", "--percent-limit", "0", "-w", "0,300,4096"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    counts = {}
    for row in filter(None, map(ROW.match, output.splitlines())):
        samples, module, symbol = row.groups()
        module = "[kernel]" if module.startswith("[kernel") else module
        symbol = "(no symbol)" if re.fullmatch("0x[0-9a-f]+", symbol) else symbol
        counts[module, symbol] = counts.get((module, symbol), 0) + int(samples)
    return counts


def sto_top(sto, path):
    command = [sto, "top", path, "--format", "json"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    counts = {}
    for function in json.loads(output)["functions"]:
        samples = function["self"]["samples"]
        symbol = "(no symbol)" if function["kind"] == "unresolved" else function["function"]
        if samples:
            key = function["module"], symbol
            counts[key] = counts.get(key, 0) + samples
    return counts


def main(sto, paths):
    print("| recording | samples: perf | sto | functions: perf | samples laid elsewhere |")
    print("|---|---|---|---|---|")
    rows = []
    for path in paths:
        perf, ours = perf_report(path), sto_top(sto, path)
        keys = sorted(set(perf) | set(ours))
        differing = [(key, perf.get(key, 0), ours.get(key, 0)) for key in keys]
        differing = [row for row in differing if row[1] != row[2]]
        elsewhere = sum(max(0, row[1] - row[2]) for row in differing)
        name = path.rsplit("/", 1)[-1]
        print(f"| {name} | {sum(perf.values())} | {sum(ours.values())} | {len(perf)} | {elsewhere} |")
        rows += [(name, *row) for row in differing]
    print()
    for name, (module, symbol), in_perf, in_sto in rows:
        print(f"- {name}: `{symbol}` in {module}: perf {in_perf}, sto {in_sto}")


main(sys.argv[1], sys.argv[2:])
