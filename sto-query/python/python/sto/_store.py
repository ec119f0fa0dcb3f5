"""Stores of profiles."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from . import _sto
from ._answers import Answer, Record
from ._questions import TABLES, A, Questions


class Store(Questions):
    """A store of profiles, made by `sto.open` or `sto.memory`.

    Each question is a method, such as `top` and `compare`. Builds are named as on the command line: `v1`, `demo@v1`,
    a tag, `git:HEAD`, or the path of a file. Any number of threads may use a store at the same time, and other
    processes may change it: each question sees its newest state. Ctrl-C ends a question.
    """

    def __init__(self, store: _sto.Store, name: str) -> None:
        self._store = store
        self._name = name

    def __repr__(self) -> str:
        return f"<sto.Store {self._name}>"

    def ingest(
        self,
        recording: str | os.PathLike[str] | bytes | bytearray | memoryview,
        *,
        build: str | None = None,
        program: str | None = None,
        benchmark: str | None = None,
        labels: Mapping[str, str] | None = None,
        metrics: Mapping[str, float] | None = None,
        revision: str | None = None,
        recorded: datetime | None = None,
        slices: int | None = None,
        format: str | None = None,
    ) -> Record:
        """Stores a recording as a run of a build: perf.data, pprof, JFR and many more formats.

        The same recording is stored only once for a build. Returns the profiles that were stored, with their
        quality; what is doubtful about the recording is also a warning.

        recording: The path of a file, or the contents of one.
        build: The name of the build; by default the program's GNU build id.
        program: The name of the program; by default as the recording tells.
        benchmark: The benchmark that ran.
        labels: Labels of the run.
        metrics: Metrics of the run, such as a throughput.
        revision: The git revision of the program, such as `HEAD` in a work tree.
        recorded: The time of the recording; by default as the file tells.
        slices: Also store what each thread did in each of this number of equal parts of the time.
        format: The format, as `sto ingest --format` has it; by default it is detected.
        """
        if isinstance(recording, (bytearray, memoryview)):
            recording = bytes(recording)
        about = {
            "build": build,
            "program": program,
            "benchmark": benchmark,
            "revision": revision,
            "labels": dict(labels or {}),
            "metrics": dict(metrics or {}),
            "recorded": None if recorded is None else int(recorded.timestamp()),
            "slices": slices,
            "format": format,
        }
        report = Record(json.loads(self._store.ingest(recording, about)))
        for text in report.warnings:
            warnings.warn(f"{report.path}: {text}", stacklevel=2)
        return report

    def ask(self, question: str, /, **fields: Any) -> Answer:
        """Answers a question by its name, such as `top`, with the fields of its request.

        The methods of the store have the same questions, and say what their fields mean.
        """
        return self._ask(Answer, question, fields)

    def sql(self, query: str, parameters: Mapping[str, str | float] | None = None) -> _sto.Table:
        """Answers a query in SQLite's dialect of SQL, of one statement.

        `sto sql --help` and `store.sql("SELECT * FROM executable")` show the tables. A parameter is written
        `:name` in the query.
        """
        return self._store.sql(query, dict(parameters or {}))

    def _ask(self, answer: type[A], question: str, fields: dict[str, Any]) -> A:
        fields = {name: value for name, value in fields.items() if name != "self" and value is not None}
        request = json.dumps({**fields, "question": question}, default=_encode)
        return answer(self._store.ask(request), TABLES.get(question))


def _encode(value: Any) -> Any:
    """Encodes values that JSON does not have."""
    if isinstance(value, os.PathLike):
        path = os.fspath(value)
        # A selector that begins so is never the name of a build.
        return path if os.path.isabs(path) else os.path.join(os.curdir, path)
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{value!r} is not a value of a question")


def open(path: str | os.PathLike[str], create: bool = False) -> Store:
    """Opens the store in a folder.

    path: The folder, as for `sto --store`.
    create: Whether a missing store is created, by the first profile.
    """
    return Store(_sto.Store.open(path, create), repr(os.fspath(path)))


def memory() -> Store:
    """Makes an empty store in memory, which is lost with the program. It also answers questions about files."""
    return Store(_sto.Store.memory(), "in memory")
