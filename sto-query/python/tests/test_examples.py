"""Examples, documentation and types are right."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, need

import sto

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_notebook_runs() -> None:
    nbformat, nbclient = need("nbformat"), need("nbclient")
    need("ipykernel")
    notebook = nbformat.read(EXAMPLES / "what_got_slower.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("doLogging" in output.get("data", {}).get("text/plain", "") for output in outputs)
    assert any("<iframe" in output.get("data", {}).get("text/html", "") for output in outputs)


def test_release_check_ends_with_1_if_a_build_got_slower() -> None:
    files = [ROOT / f"testdata/demo/{build}.perf.data" for build in ("v1", "v2")]
    done = subprocess.run([sys.executable, EXAMPLES / "release_check.py", *files], capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "doLogging" in done.stdout


def test_example_of_the_package_is_right() -> None:
    assert doctest.testmod(sto) == doctest.TestResults(failed=0, attempted=4)


def test_types_are_right() -> None:
    need("mypy")
    here = Path(__file__).parents[1]
    package = Path(sto.__file__).parent
    settings = ["--config-file", str(here / "pyproject.toml")]
    checked = map(str, [EXAMPLES / "release_check.py", here / "tests", *package.glob("*.py")])
    for tool in [["mypy", *settings, *checked], ["mypy.stubtest", "sto._sto"]]:
        done = subprocess.run([sys.executable, "-m", *tool], capture_output=True, text=True, cwd=package.parent)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif("STO_WHEEL" not in os.environ, reason="STO_WHEEL does not name a wheel")
def test_commands_of_the_readme_name_the_slow_function(tmp_path: Path) -> None:
    section = (ROOT / "README.md").read_text().split("\n## In Python\n")[1].split("\n## ")[0]
    [block] = re.findall(r"```console\n(.*?)```", section, re.DOTALL)
    commands = re.findall(r"^\$ (.*)", block, re.MULTILINE)
    assert commands[-1] == "python"
    wheel = Path(os.environ["STO_WHEEL"])
    (tmp_path / wheel.name).symlink_to(wheel)
    (tmp_path / "testdata").symlink_to(ROOT / "testdata")
    (tmp_path / "session.txt").write_text(block)
    script = [
        f"{sys.executable} -m venv fresh",
        "source fresh/bin/activate",
        *commands[:-1],
        "python -m doctest -o ELLIPSIS session.txt",
    ]
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        ["bash", "-e"], input="\n".join(script), capture_output=True, text=True, cwd=tmp_path, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "doLogging" in block
