"""Recordings become runs of builds."""

from __future__ import annotations

import pickle
from datetime import datetime, timezone
from pathlib import Path

import pytest
from conftest import DEMO

import sto


def test_file_and_its_contents_are_the_same_run(tmp_path: Path) -> None:
    store = sto.open(tmp_path / "store", create=True)
    path = DEMO / "v1.perf.data"
    first = store.ingest(path, program="demo", build="v1")
    assert (first.profiles[0].executable, first.profiles[0].version) == ("demo", "v1")
    assert first.profiles[0].added
    assert repr(first).startswith("Record(path=") and "profiles=[1 items]" in repr(first)
    assert not store.ingest(memoryview(path.read_bytes()), program="demo", build="v1").profiles[0].added
    assert sto.open(tmp_path / "store").top("v1").samples == 2716


def test_run_has_what_it_is_about() -> None:
    store = sto.memory()
    store.ingest(
        b"main 1\n",
        program="app",
        build="v1",
        benchmark="load",
        labels={"os": "linux"},
        metrics={"requests": 20},
        revision="v1.0",
        recorded=datetime(2026, 3, 1, tzinfo=timezone.utc),
        slices=1,
        format="folded",
    )
    run = store.runs().runs[0]
    assert (run.benchmark, run.labels.os, run.metrics.requests) == ("load", "linux", 20)
    assert run.recorded.startswith("2026-03-01")
    assert store.show("v1").revision == "v1.0"


def test_doubts_about_a_recording_are_warnings() -> None:
    with pytest.warns(UserWarning, match="^app: The last line has no line end"):
        report = sto.memory().ingest(b"main 1", program="app", build="v1")
    assert len(report.warnings) == 1


def test_damaged_recording_is_refused_with_its_path_and_place(tmp_path: Path) -> None:
    path = tmp_path / "cut.perf.data"
    path.write_bytes((DEMO / "v1.perf.data").read_bytes()[:5000])
    with pytest.raises(sto.InvalidError, match="cut.perf.data: truncated: ") as raised:
        sto.memory().ingest(path, build="v1")
    assert raised.value.path == path
    path = tmp_path / "wrong.folded"
    path.write_text("main;read 1\nmain;parse\n")
    with pytest.raises(sto.InvalidError, match="wrong.folded: line 2: ") as raised:
        sto.memory().ingest(path, build="v1", format="folded")
    assert (raised.value.path, raised.value.place) == (path, "line 2")
    copy = pickle.loads(pickle.dumps(raised.value))
    assert (str(copy), copy.path, copy.place) == (str(raised.value), path, "line 2")


def test_unknown_format_and_impossible_slices_are_refused() -> None:
    store = sto.memory()
    with pytest.raises(sto.InvalidError, match="^expected one of .*folded"):
        store.ingest(b"main 1\n", build="v1", format="floded")
    with pytest.raises(ValueError, match="^cannot divide a recording into 0 slices$"):
        store.ingest(b"main 1\n", build="v1", slices=0)


def test_missing_store_and_missing_file_are_not_found(tmp_path: Path) -> None:
    with pytest.raises(sto.NotFoundError, match="there is no store in") as raised:
        sto.open(tmp_path / "none")
    assert raised.value.path == tmp_path / "none"
    assert isinstance(raised.value, LookupError)
    with pytest.raises(sto.NotFoundError, match="cannot read .*none"):
        sto.memory().ingest(tmp_path / "none", build="v1")
    with pytest.raises(sto.NotFoundError):
        sto.memory().top("v1")
