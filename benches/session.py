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
    lines = Path("/proc", file).read_text().splitlines()
    return next(line.split(":", 1)[1].strip() for line in lines if line.startswith(key))


def heading(title, versions):
    """The head of a section of results: date, versions, machine."""
    revision = run("git", "describe", "--always", "--dirty", cwd=REPOSITORY).strip()
    memory = round(int(proc("meminfo", "MemTotal").split()[0]) / 2**20)
    system = os.uname()
    return [
        f"## {datetime.date.today()}, {title}",
        "",
        f"- sto {revision}, {run('rustc', '--version').strip()}",
        f"- {', '.join(versions)}",
        f"- {proc('cpuinfo', 'model name')}, {os.cpu_count()} cores, {memory} GiB,"
        f" {system.sysname} {system.release}",
    ]


def table(columns, rows):
    lines = [columns, ["---"] * len(columns), *rows]
    return ["| " + " | ".join(str(cell) for cell in line) + " |" for line in lines]


def append(name, lines):
    """Adds a section to a file of results, and prints it."""
    text = "\n" + "\n".join(lines) + "\n"
    with open(RESULTS / name, "a") as file:
        file.write(text)
    print(text)
