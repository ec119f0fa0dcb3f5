"""Shared code of the benchmark scripts: building programs, and formatting results."""

import datetime
import json
import os
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
RESULTS = REPOSITORY / "benches/results"


def run(*command, **options):
    """Runs a command and returns its output."""
    command = [str(word) for word in command]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options)
    return done.stdout


def build():
    """Builds sto and the programs of the benchmarks. Returns their folder."""
    packages = ["-p", "sto-cli", "-p", "sto-benches"]
    run("cargo", "build", "--release", "--locked", "--bins", *packages, cwd=REPOSITORY)
    metadata = run("cargo", "metadata", "--format-version", "1", "--no-deps", cwd=REPOSITORY)
    return Path(json.loads(metadata)["target_directory"]) / "release"


def proc(file, key):
    """Returns the value of a key in a file of /proc."""
    lines = Path("/proc", file).read_text().splitlines()
    return next(line.split(":", 1)[1].strip() for line in lines if line.startswith(key))


def heading(title, *more):
    """Returns the heading of a section of results: date, versions, machine, and more lines."""
    revision = run("git", "describe", "--always", "--dirty", cwd=REPOSITORY).strip()
    memory = round(int(proc("meminfo", "MemTotal").split()[0]) / 2**20)
    system = os.uname()
    return [
        f"## {datetime.date.today()}, {title}",
        "",
        f"- sto {revision}, {run('rustc', '--version').strip()}",
        f"- {proc('cpuinfo', 'model name')}, {os.cpu_count()} cores, {memory} GiB,"
        f" {system.sysname} {system.release}",
        *(f"- {line}" for line in more),
    ]


def table(columns, rows):
    """Returns the lines of a table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return ["| " + " | ".join(str(cell) for cell in line) + " |" for line in lines]


def verdict(what, measured, goal, reached):
    """Returns a line that compares a measurement with its goal."""
    return f"- {what}: {measured}; the goal is {goal}: **{'reached' if reached else 'missed'}**"


def append(name, lines):
    """Appends a section to a file of results, and prints it."""
    text = "\n" + "\n".join(lines) + "\n"
    with open(RESULTS / name, "a") as file:
        file.write(text)
    print(text)


def varint(data, place):
    """Decodes a varint of Protocol Buffers. Returns it and the offset after it."""
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
