"""Stores that tests ask."""

from __future__ import annotations

import importlib
import os
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

import sto

ROOT = Path(__file__).parents[3]
DEMO = ROOT / "testdata/demo"

RUNS = [
    ("v1", "load", b"main;read 600\nmain;parse 300\nmain 100\n"),
    ("v1", "load", b"main;read 610\nmain;parse 290\nmain 100\n"),
    ("v2", "load", b"main;read 600\nmain;parse 900\nmain 100\n"),
    ("v2", "load", b"main;read 590\nmain;parse 910\nmain 100\n"),
]


def need(module: str) -> Any:
    """Imports a module that users may lack. Without it, the test is skipped, unless every test is asked for."""
    if os.environ.get("STO_TEST_ALL") == "1":
        return importlib.import_module(module)
    return pytest.importorskip(module)


@pytest.fixture
def store() -> sto.Store:
    """Two runs each of two builds of `app`; `parse` is three times as expensive in the second."""
    store = sto.memory()
    for number, (build, benchmark, stacks) in enumerate(RUNS):
        store.ingest(
            stacks,
            program="app",
            build=build,
            benchmark=benchmark,
            labels={"os": "linux"},
            metrics={"requests": number + 1},
            recorded=datetime(2026, 3, 1 + number, tzinfo=timezone.utc),
        )
    return store
