"""Studies what `sto find-regressions` reports if one function of a real program is 2, 10 or 100 times as slow.

    python3 benches/study/slowed.py build FOLDER
    python3 benches/study/slowed.py record FOLDER PROGRAM...
    python3 benches/study/slowed.py compare FOLDER STO PROGRAM...
    python3 benches/study/slowed.py report FOLDER

`build` compiles the programs, from the sources in crates, with a counted loop at the start of some functions. The loop's
length is a constant in an object file of its own, so all builds of a program have the same code. `record` chooses the
functions to slow, and records both sides in turn. `compare` stores the runs, once without and once with their run time,
and compares them. `report` appends the tables to benches/results/regressions.md.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from session import append, heading, run, table  # noqa: E402

DRIVERS = pathlib.Path(__file__).resolve().parent / "slowed"
CRATES = {"libsqlite3-sys": "=0.40.0", "lua-src": "=551.1.0", "bzip2-sys": "=0.1.13+1.0.8", "zstd-sys": "=2.1.2"}
# Without -fno-shrink-wrap, the loop may run before the frame is set up, and the stack lacks the caller.
FLAGS = "-O2 -g -fno-omit-frame-pointer -fno-shrink-wrap -w -DSQLITE_THREADSAFE=0 -DZSTD_DISABLE_ASM".split()
# For each program: folders of sources, excluded files, argument, functions that may be slowed.
PROGRAMS = {
    "sqlite": (
        ["libsqlite3-sys/sqlite3"],
        "wasm32",
        "60000",
        ["sqlite3GetToken", "patternCompare", "vdbeSorterCompareInt", "sqlite3BtreeInsert", "sqlite3VdbeAddOp3"],
    ),
    "lua": (
        ["lua-src/lua-5.4.9"],
        "lua.c|luac.c|onelua|ltests",
        "200000",
        ["luaH_getshortstr", "propagatemark", "l_strcmp", "mainpositionTV", "max_expand"],
    ),
    "bzip2": (
        ["bzip2-sys/bzip2-1.0.8"],
        "bzip2|dlltest|mk251|spewG|unzcrash",
        "1000000",
        ["generateMTFValues", "mainGtU", "copy_input_until_stop", "sendMTFValues", "BZ2_hbMakeCodeLengths"],
    ),
    "zstd": (
        ["zstd-sys/zstd/lib", "zstd-sys/zstd/lib/common", "zstd-sys/zstd/lib/compress", "zstd-sys/zstd/lib/decompress"],
        "legacy",
        "1600000",
        ["make_text", "ZSTD_updateStats", "HIST_count_parallel_wksp", "ZSTD_seqToCodes", "ZSTD_rawLiteralsCost"],
    ),
}
FACTORS = [2, 10, 100]
RUNS = 6
FREQUENCY = 999
METHODS = {"default": [], "--per-run": ["--per-run"], "--unequal-work": ["--unequal-work"], "--shares": ["--shares"]}
# The fences keep the loop from running while the caller still waits for memory, so that its cost adds up.
SLOW = (
    '{ extern long slow_%s, calls_%s; calls_%s++; __asm__ volatile("lfence" ::: "memory");'
    ' for (long n = slow_%s; n > 0; n--) __asm__ volatile(""); __asm__ volatile("lfence" ::: "memory"); }'
)


def add_loops(text, functions):
    """Returns C source whose given functions are not inlined, and begin with a loop."""
    for function in functions:
        definition = re.compile(rf"^(?=[A-Za-z_])([^\n;=]*\b{function}\s*\([^;{{]*?\)\s*\{{)", re.M)
        loop = SLOW.replace("%s", function)
        text = definition.sub(lambda match: f"__attribute__((noinline)) {match[1]} {loop}", text, count=1)
    return text


def build(folder):
    """Compiles the objects of each program."""
    crate = folder / "crate"
    (crate / "src").mkdir(parents=True, exist_ok=True)
    (crate / "src/lib.rs").touch()
    lines = [f'{name} = "{version}"' for name, version in CRATES.items()]
    manifest = ["[package]", 'name = "programs"', 'edition = "2021"', "[dependencies]", *lines]
    (crate / "Cargo.toml").write_text("\n".join(manifest))
    run("cargo", "vendor", "--quiet", cwd=crate)
    jobs = []
    for program, (folders, excluded, _, functions) in PROGRAMS.items():
        objects = folder / program / "objects"
        objects.mkdir(parents=True, exist_ok=True)
        folders = [crate / "vendor" / name for name in folders]
        sources = [source for of in folders for source in of.glob("*.c") if not re.search(excluded, source.name)]
        for source in [*sources, DRIVERS / f"{program}.c", DRIVERS / "text.c"]:
            changed = objects / f"{source.parent.name}-{source.name}"
            changed.write_text(add_loops(source.read_text(), functions))
            include = [f"-I{of}" for of in [source.parent, *folders, DRIVERS]]
            jobs.append(["gcc", *FLAGS, *include, "-c", changed, "-o", changed.with_suffix(".o")])
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda job: run(*job), jobs))


def link(folder, program, name, lengths, number=0):
    """Links a build whose loops have these lengths by function, and prints the calls of its functions."""
    functions = PROGRAMS[program][3]
    out = folder / program / name
    out.mkdir(exist_ok=True)
    lines = ["#include <stdio.h>", f"const long build_number = {number};"]
    lines += [f"long slow_{f} = {lengths.get(f, 0)}, calls_{f};" for f in functions]
    calls = "".join(f'fprintf(stderr, "%ld {f}\\n", calls_{f});' for f in functions)
    lines += [f"__attribute__((destructor)) void print_calls(void) {{ {calls} }}"]
    (out / "loops.c").write_text("\n".join(lines))
    objects = (folder / program / "objects").glob("*.o")
    run("gcc", *FLAGS, *objects, out / "loops.c", "-lm", "-o", out / program, stderr=subprocess.DEVNULL)


def record_run(folder, program, build_name, data, frequency=FREQUENCY, stacks=("-g",)):
    """Records a run. Returns its seconds and its standard error."""
    command = ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(frequency), *stacks, "-o", data, "--"]
    command += [f"./{build_name}/{program}", PROGRAMS[program][2]]
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder / program, check=True, capture_output=True, text=True)
    return time.perf_counter() - start, done.stderr


def nanoseconds_per_step(folder):
    """Measures a step of the loop."""
    steps = 500_000_000
    (folder / "step.c").write_text(f'int main() {{ for (long n = {steps}; n > 0; n--) __asm__ volatile(""); }}')
    run("gcc", *FLAGS, "step.c", "-o", "step", cwd=folder)
    times = [os.times().children_user for _ in range(4) if run(folder / "step") == ""]
    return min(after - before for before, after in zip(times, times[1:])) * 1e9 / steps


def calibrate(folder, program, step):
    """Returns, of each function, its share, and the loop's length that costs as much as a call of the function."""
    link(folder, program, "calibration", {})
    data, samples, total, frequency, runs = folder / program / "calibration.data", {}, 0, 5000, 5
    for _ in range(runs):
        _, error = record_run(folder, program, "calibration", data, frequency, ())
        symbols = run("perf", "script", "-F", "ip,sym", "-i", data, stderr=subprocess.DEVNULL).splitlines()
        for symbol in symbols:
            symbol = symbol.split()[1].split(".")[0]
            samples[symbol] = samples.get(symbol, 0) + 1
        total += len(symbols)
    calls = {function: int(n) for n, function in re.findall(r"^(\d+) (\w+)$", error, re.M)}
    found = {}
    for function, count in calls.items():
        share = samples.get(function, 0) / total
        found[function] = (share, samples.get(function, 0) / frequency / runs * 1e9 / max(count, 1) / step)
    return found


def record(folder, programs):
    """Records both sides of each pair in rounds, which begin with either side in turn."""
    for program in programs:
        step = nanoseconds_per_step(folder / program)
        found = calibrate(folder, program, step)
        chosen = {f: (share, cost) for f, (share, cost) in found.items() if 0.005 <= share <= 0.1}
        print(program, step, found, flush=True)
        (folder / program / "data").mkdir(exist_ok=True)
        runs = {}
        for number, (function, (share, cost)) in enumerate(chosen.items()):
            for factor in FACTORS:
                link(folder, program, f"{function}-{factor}-baseline", {}, number=1000 * number + factor)
                link(folder, program, f"{function}-{factor}-candidate", {function: round((factor - 1) * cost)})
            for round_ in range(RUNS):
                for factor in FACTORS:
                    for side in ["baseline", "candidate"][:: 1 if round_ % 2 else -1]:
                        name = f"{function}-{factor}-{side}"
                        data = f"data/{name}-{round_}.data"
                        seconds, _ = record_run(folder, program, name, data)
                        runs.setdefault(name, []).append((data, seconds))
            print(program, function, share, time.strftime("%X"), flush=True)
            (folder / program / "runs.json").write_text(json.dumps({"chosen": chosen, "runs": runs}))


def find_regressions(sto, store, sides, options):
    """Returns the JSON of a comparison. Finding a regression is exit status 1."""
    command = [sto, "find-regressions", *sides, "--store", store, "--format", "json", *options]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout)


def stacks_with(sto, store, function, build_name):
    """Returns the function's self milliseconds per run, and the functions on the stacks above it."""
    above, cost = set(), 0
    for line in run(sto, "export", "--format", "folded", build_name, "--store", store).splitlines():
        stack, count = line.rsplit(" ", 1)
        frames = [re.sub(r"(\..*|_\[[ik]\])$", "", frame) for frame in stack.split(";")]
        if function in frames:
            above.update(frames[: frames.index(function)])
        if function == frames[-1]:
            cost += int(count)
    return cost / 1e6 / RUNS, sorted(above - {function})


def store(sto, program, place, runs, plain, timed):
    """Stores the runs in one store without, and in one with their time."""
    seconds = []
    for name, of_build in runs.items():
        ingest = [sto, "ingest", *(file for file, _ in of_build), "--exe", program, "--build", name]
        stored = json.loads(run(*ingest, "--store", plain, "--report", "json", cwd=place))
        ids = {of["path"]: of["profiles"][0]["id"] for of in stored["recordings"]}
        seconds += [json.dumps({"profile": ids[file], "seconds": time_}) for file, time_ in of_build]
    run("cp", "-r", plain, timed)
    run(sto, "annotate", "-", "--store", timed, input="\n".join(seconds) + "\n")


def compare(folder, sto, programs):
    """Stores the runs twice, with and without their run time, and compares each pair by each method."""
    for program in programs:
        place = folder / program
        recorded = json.loads((place / "runs.json").read_text())
        plain, timed = place / "plain", place / "timed"
        if not timed.exists():
            store(sto, program, place, recorded["runs"], plain, timed)
        pairs = [(f, k, f"{f}-{k}-baseline", f"{f}-{k}-candidate") for f in recorded["chosen"] for k in FACTORS]
        equal = [(f, 1, f"{f}-{a}-baseline", f"{f}-{b}-baseline") for f in recorded["chosen"] for a, b in [(2, 10), (10, 100), (2, 100)]]
        lines = []
        for function, factor, *sides in pairs + equal:
            before, _ = stacks_with(sto, plain, function, sides[0])
            after, above = stacks_with(sto, plain, function, sides[1])
            for stored in [plain, timed]:
                for method, options in METHODS.items():
                    result = find_regressions(sto, stored, sides, options)
                    line = {"program": program, "function": function, "factor": factor, "store": stored.name}
                    line |= {"share": recorded["chosen"][function][0], "method": method, "above": above, "before": before, "after": after}
                    line |= {key: result.get(key, []) for key in ["verdict", "reason", "metrics", "findings", "undecided", "statistics"]}
                    lines.append(json.dumps(line))
        (place / "comparisons.jsonl").write_text("\n".join(lines))
        print(program, len(lines), time.strftime("%X"), flush=True)


def name_of(line):
    """Returns the normalisation of a comparison as the tables call it; `None` if the tables leave it out."""
    if line["store"] == "plain":
        return line["method"]
    # The others ignore whether the runs have a time, except in the verdict.
    return "default, runs with seconds" if line["method"] == "default" else None


def findings(line):
    """Returns the functions of the findings that cost more, and of the other ones."""
    worse = [of["function"] for of in line["findings"] if of["kind"] in ("regression", "new")]
    return worse, [of["function"] for of in line["findings"] if of["kind"] not in ("regression", "new")]


def place_of(line):
    """Returns the place of the slowed function among the regressions, from 1; 0 if it is not one of them."""
    worse, _ = findings(line)
    return worse.index(line["function"]) + 1 if line["function"] in worse else 0


def others(line):
    """Returns the regressions besides the slowed function: its callers, and false ones."""
    found = [function for function in findings(line)[0] if function != line["function"]]
    return [f for f in found if f in line["above"]], [f for f in found if f not in line["above"]]


def percent(said):
    said = list(said)
    return f"{100 * sum(said) / len(said):.1f}"


def slowed_row(lines):
    first = [[place_of(of) == 1 for of in lines if of["factor"] == factor] for factor in FACTORS]
    undecided = [of["function"] in (f["finding"]["function"] for f in of["undecided"]) for of in lines]
    counts = sorted(len(findings(of)[0]) for of in lines)
    rates = {True: [], False: []}
    for of in lines:
        worse, rest = findings(of)
        false = len(others(of)[1])
        rates[True].append(false / max(len(worse), 1))
        rates[False].append((false + len(rest)) / max(len(worse + rest), 1))
    return [
        len(lines),
        *map(percent, first),
        sum(undecided),
        percent(rates[True]),
        percent(rates[False]),
        sum(bool(others(of)[1]) for of in lines),
        sum(bool(others(of)[0]) for of in lines),
        percent(count <= 3 for count in counts),
        counts[-1],
    ]


def equal_row(lines):
    said = [
        [of["verdict"] == "regression" for of in lines],
        [bool(findings(of)[0]) for of in lines],
        [bool(of["findings"]) for of in lines],
        [bool(of["undecided"]) for of in lines],
    ]
    return [len(lines), *(f"{sum(column)} ({percent(column)} %)" for column in said)]


def report(folder):
    lines = [json.loads(line) for file in sorted(folder.glob("*/comparisons.jsonl")) for line in file.read_text().splitlines()]
    lines = [line for line in lines if name_of(line)]
    slowed, equal = [of for of in lines if of["factor"] > 1], [of for of in lines if of["factor"] == 1]
    names = list(dict.fromkeys(map(name_of, lines)))
    by_name = lambda lines, row: [[name, *row([of for of in lines if name_of(of) == name])] for name in names]
    functions = {}
    for of in slowed:
        functions.setdefault((of["program"], of["function"], f"{100 * of['share']:.1f}"), {})[of["factor"]] = (
            f"{of['before']:.1f} to {of['after']:.1f}"
        )
    raw = []
    for of in slowed:
        above, false = others(of)
        listed = [*(f"{f} (caller)" for f in above), *false]
        raw.append([of["program"], of["function"], of["factor"], name_of(of), place_of(of) or "–", len(findings(of)[0]), len(findings(of)[1]), ", ".join(listed) or "–"])
    first = [f"{factor} times: found first (%)" for factor in FACTORS]
    measured = [f"{factor} times: self time of a run (ms)" for factor in FACTORS]
    append(
        "regressions.md",
        [
            *heading("real programs with one slowed function"),
            "",
            *table(["program", "function", "share (%)", *measured], [[*key, *(of[factor] for factor in FACTORS)] for key, of in functions.items()]),
            "",
            "Pairs with a slowed function:",
            "",
            *table(
                [
                    "normalisation",
                    "pairs",
                    *first,
                    "slowed function undecided",
                    "false discovery rate of regressions (%)",
                    "of all findings (%)",
                    "pairs with a false regression",
                    "pairs with a caller as a regression",
                    "at most 3 regressions (%)",
                    "most regressions",
                ],
                by_name(slowed, slowed_row),
            ),
            "",
            "Pairs of equal builds:",
            "",
            *table(["normalisation", "pairs", "verdict is a regression", "report a regression", "report anything", "list an undecided change"], by_name(equal, equal_row)),
            "",
            "Every pair:",
            "",
            *table(["program", "function", "times as slow", "normalisation", "place", "regressions", "improvements", "other regressions"], raw),
        ],
    )


if __name__ == "__main__":
    action, place, *rest = sys.argv[1:]
    place = pathlib.Path(place).resolve()
    if action == "build":
        build(place)
    elif action == "record":
        record(place, rest)
    elif action == "compare":
        compare(place, rest[0], rest[1:])
    else:
        report(place)
