"""What every benchmark script needs: fresh programs, and a heading that says what ran where."""

import datetime
import json
import os
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
RESULTS = REPOSITORY / "benches/results"


def run(*command, **options):
    """Runs a command and returns what it printed."""
    command = [str(word) for word in command]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options)
    return done.stdout


def build():
    """Builds sto and the programs of the benchmarks; returns the folder that has them."""
    packages = ["-p", "sto-cli", "-p", "sto-benches"]
    run("cargo", "build", "--release", "--locked", "--bins", *packages, cwd=REPOSITORY)
    metadata = run("cargo", "metadata", "--format-version", "1", "--no-deps", cwd=REPOSITORY)
    return Path(json.loads(metadata)["target_directory"]) / "release"


def proc(file, key):
    """The value of a key in a file of /proc."""
    lines = Path("/proc", file).read_text().splitlines()
    return next(line.split(":", 1)[1].strip() for line in lines if line.startswith(key))


def heading(title, *more):
    """The head of a section of results: date, versions, machine, and more lines."""
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
    """The lines of a table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return ["| " + " | ".join(str(cell) for cell in line) + " |" for line in lines]


def verdict(what, measured, goal, reached):
    """A line that sets a measurement beside its goal."""
    return f"- {what}: {measured}; the goal is {goal}: **{'reached' if reached else 'missed'}**"


def append(name, lines):
    """Adds a section to a file of results, and prints it."""
    text = "\n" + "\n".join(lines) + "\n"
    with open(RESULTS / name, "a") as file:
        file.write(text)
    print(text)


def varint(data, place):
    """A number of Protocol Buffers, and where what follows it begins."""
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
