"""Each question is a method, with the fields of its request."""

from __future__ import annotations

import inspect
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from conftest import DEMO

import sto
from sto._questions import TABLES, Questions

METHODS = [name for name in vars(Questions) if not name.startswith("_")]

#: Arguments of questions that need some.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "align": {"named": ["v1", "v2"]},
    "compare_models": {"named": ["v1", "v2"], "x": "requests"},
    "correlate": {"named": ["v1"]},
    "potential": {"named": ["v1"]},
    "blame": {"of": {"named": "v1"}, "path": "app.c"},
    "hot": {"of": {"named": "v1"}},
    "calibrate_curves": {"named": "v1", "x": "requests"},
    "model_function": {"named": "v1", "function": "parse", "x": "requests"},
    "models": {"named": "v1", "x": "requests"},
    "search": {"text": "par"},
    "series": {"function": "parse"},
    "expand": {"function": "parse"},
    "source": {"named": "v1", "function": "parse"},
    "occurrences": {"function": "parse"},
    "bottlenecks": {"options": {"metric": "requests", "min_runs": 2}},
}

#: Questions that the small store cannot answer.
REFUSED = {"align", "bisect", "blame", "calls", "correlate", "model_two", "outliers", "phases", "timeline", "waits"}


def ask(store: sto.Store, method: str) -> sto.Answer:
    arguments = dict(ARGUMENTS.get(method, {}))
    for name, parameter in inspect.signature(getattr(store, method)).parameters.items():
        if parameter.default is parameter.empty:
            arguments.setdefault(name, "v1" if name == "baseline" else "v2")
    answer = getattr(store, method)(**arguments)
    assert isinstance(answer, sto.Answer)
    return answer


@pytest.mark.parametrize("method", METHODS)
def test_question_is_answered_or_refused_with_a_sentence(store: sto.Store, method: str) -> None:
    try:
        answer = ask(store, method)
    except sto.Error as error:
        assert method in REFUSED, error
        assert str(error)
        return
    assert repr(answer)
    question = {"compare": "check"}.get(method, method.replace("_", "-"))
    if question in TABLES:
        assert answer.table().column_names


@pytest.mark.parametrize("method", METHODS)
def test_parameters_are_described(method: str) -> None:
    described = inspect.getdoc(getattr(sto.Store, method)) or ""
    names = [name for name in inspect.signature(getattr(sto.Store, method)).parameters if name != "self"]
    assert [name for name in names if f"\n    {name}: " not in described] == []


def test_answer_has_attributes_and_plain_data(store: sto.Store) -> None:
    top = store.top("v2")
    assert top.functions[0].function == "parse"
    assert top.functions[0].self.value == top.to_dict()["functions"][0]["self"]["value"] == 1810
    assert top["functions"][0]["function"] == "parse"
    assert "functions" in dir(top)
    with pytest.raises(AttributeError, match="there is no field `function`; the fields are .*functions"):
        top.function


def test_answer_prints_what_the_command_prints(store: sto.Store) -> None:
    text = repr(store.compare("v1", "v2"))
    assert text.startswith("REGRESSION")
    assert "parse" in text


def test_fields_are_those_of_the_request(store: sto.Store) -> None:
    assert [row.function for row in store.top("v1", limit=1).functions] == ["read"]
    assert store.top("v1", order="total", filter={"benchmarks": ["load"]}).functions[0].function == "main"
    assert store.builds(executable="app").totals.profiles == 4
    since = datetime(2100, 1, 1, tzinfo=timezone.utc)
    with pytest.raises(sto.NotFoundError):
        store.runs(since=since.date().isoformat())


def test_unknown_field_is_refused_with_the_librarys_sentence(store: sto.Store) -> None:
    with pytest.raises(sto.InvalidError, match="^unknown field `limt`, expected one of .*`limit`"):
        store.ask("top", named="v1", limt=3)
    with pytest.raises(sto.InvalidError, match="^unknown field `benchmark`, expected .*`benchmarks`"):
        store.top("v1", filter={"benchmark": "load"})  # type: ignore[arg-type]
    with pytest.raises(sto.InvalidError, match="^unknown variant `tpo`"):
        store.ask("tpo")
    with pytest.raises(TypeError, match="limt"):
        store.top("v1", limt=3)  # type: ignore[call-arg]


def test_builds_are_named_as_on_the_command_line(store: sto.Store) -> None:
    assert store.top("app@v2").build == store.top("app@newest").build == "v2"
    assert store.top({"runs": [store.runs().runs[0].id]}).samples == 1600


def test_path_is_a_file_even_if_a_build_has_its_name(
    store: sto.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("v1").write_text("main;other 7\n")
    assert store.top("v1").samples == 2000
    assert store.top(Path("v1")).samples == 7
    assert store.top(tmp_path / "v1").samples == 7


def test_files_are_compared_without_storing_them() -> None:
    check = sto.memory().compare(DEMO / "v1.perf.data", DEMO / "v2.perf.data")
    assert check.verdict == "regression"
    assert "doLogging" in check.reason


def test_question_sees_changes_of_other_processes(tmp_path: Path) -> None:
    ours, theirs = (sto.open(tmp_path / "store", create=True) for _ in range(2))
    assert ours.builds().builds == []
    theirs.ingest(b"main 1\n", program="app", build="v1")
    assert ours.top("v1").samples == 1
    theirs.ingest(b"main 1\nmain;read 1\n", program="app", build="v1")
    assert ours.top("v1").samples == 3
