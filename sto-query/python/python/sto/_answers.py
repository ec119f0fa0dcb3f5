"""Answers: attributes, text, tables and drawings."""

from __future__ import annotations

import html
import json
import os
import shutil
from typing import TYPE_CHECKING, Any

from . import _sto

if TYPE_CHECKING:
    import hatchet


class Record:
    """An object of an answer. Its fields are attributes and items: `record.name`, `record["name"]`."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return _wrap(self._fields[name])
        except KeyError:
            known = ", ".join(self._fields)
            raise AttributeError(f"there is no field `{name}`; the fields are {known}") from None

    def __getitem__(self, name: str) -> Any:
        return _wrap(self._fields[name])

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={_brief(value)}" for name, value in self._fields.items())
        return f"{type(self).__name__}({fields})"

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain dictionaries and lists."""
        return self._fields


def _wrap(value: Any) -> Any:
    if isinstance(value, dict):
        return Record(value)
    if isinstance(value, list):
        return [_wrap(item) for item in value]
    return value


def _brief(value: Any) -> str:
    """A value, without the content of lists and objects."""
    if isinstance(value, list):
        return f"[{len(value)} items]" if value else "[]"
    if isinstance(value, dict):
        return "{...}" if value else "{}"
    return repr(value)


class Answer(Record):
    """The answer to a question.

    Fields are attributes; `to_dict()` returns plain data. As text, it is what the command `sto` prints. Libraries
    with Arrow's PyCapsule interface (polars, pyarrow, DuckDB, pandas 3) read its list as a table without copying:
    `polars.DataFrame(answer)`. `table()` returns that table, for programs without such a library.
    """

    def __init__(self, answer: _sto.Answer, table: tuple[str, str] | None) -> None:
        super().__init__(json.loads(answer.json()))
        self._answer = answer
        self._table = table

    def __repr__(self) -> str:
        return self._answer.text(shutil.get_terminal_size((100, 0)).columns) or super().__repr__()

    def table(self) -> _sto.Table:
        """The list of the answer as a table: fields of nested objects are columns of their own, such as
        `self_value`, and lists are JSON."""
        if self._table is None:
            raise TypeError("this answer has no list that would be a table")
        path, columns = self._table
        rows = [self._fields]
        for name in path.split("."):
            rows = [row for part in rows for row in _as_list(part.get(name))]
        return _sto.Table.from_columns(
            [
                (
                    column.replace(".", "_"),
                    "str" if kind == "json" else kind,
                    [_cell(row, column, kind) for row in rows],
                )
                for column, kind in (column.split(":") for column in columns.split())
            ]
        )

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table().__arrow_c_stream__(requested_schema)


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _cell(row: dict[str, Any], column: str, kind: str) -> Any:
    value: Any = row
    for name in column.split("."):
        value = None if value is None else value.get(name)
    return json.dumps(value) if kind == "json" and value is not None else value


class Drawing(Answer):
    """Stacks that draw themselves in Jupyter, as a flame graph that can be searched and zoomed."""

    def svg(self) -> str:
        """The flame graph as SVG."""
        return self._answer.drawing(False) or ""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the flame graph to a file: a page if its name ends in `.html`, otherwise SVG."""
        is_page = os.fspath(path).endswith(".html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._answer.drawing(is_page) or "")

    def _repr_html_(self) -> str:
        # Names of functions come from whoever made the profile. In a sandbox without an origin, not even a script
        # could reach the notebook.
        page = html.escape(self._answer.drawing(True) or "")
        return (
            f'<iframe sandbox="allow-scripts" srcdoc="{page}" '
            'style="width: 100%; height: 600px; border: 0"></iframe>'
        )


class Tree(Answer):
    """A call tree."""

    def to_graphframe(self) -> hatchet.GraphFrame:
        """The tree as a `hatchet.GraphFrame` with the metrics `time`, `time (inc)`, `samples` and `samples (inc)`.

        `time` is the cost in the event's unit, such as nanoseconds. The tree has the stacks of this answer:
        `store.tree(build, prune={"min_share": 0})` has all.
        """
        import hatchet

        return hatchet.GraphFrame.from_literal(self._literal())

    def _literal(self) -> list[dict[str, Any]]:
        """The tree in Hatchet's literal format."""
        nodes: list[dict[str, Any]] = []
        roots: list[dict[str, Any]] = []
        for node in self._fields["nodes"]:
            own, total = node["self"], node["total"]
            literal = {
                "frame": {"name": node["function"], "type": "function", "module": node["module"]},
                "metrics": {
                    "time": float(own["value"]),
                    "time (inc)": float(total["value"]),
                    "samples": own["samples"],
                    "samples (inc)": total["samples"],
                },
                "children": [],
            }
            caller = node["parent"]
            (roots if caller is None else nodes[caller]["children"]).append(literal)
            nodes.append(literal)
        return roots
