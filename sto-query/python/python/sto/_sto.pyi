"""The native part of `sto`."""

import os
from collections.abc import Mapping
from typing import Any, final

__all__ = ["Answer", "Store", "Table"]

@final
class Answer:
    """The answer of a question."""

    def json(self) -> str:
        """The answer as JSON."""
    def text(self, width: int) -> str | None:
        """The answer as the command `sto` prints it; `None` if it prints none."""
    def drawing(self, as_page: bool) -> str | None:
        """The drawing of a question `flame` or `diff`, as an HTML page or SVG; `None` for other questions."""

@final
class Store:
    """A store of profiles."""

    @staticmethod
    def open(path: str | os.PathLike[str], create: bool) -> Store:
        """Opens the store in a folder."""
    @staticmethod
    def memory() -> Store:
        """Makes an empty store in memory."""
    def ask(self, question: str) -> Answer:
        """Answers a question, which is an object in JSON."""
    def ingest(self, recording: str | os.PathLike[str] | bytes, about: Mapping[str, Any]) -> str:
        """Stores a recording, and returns a report of it as JSON."""
    def sql(self, query: str, parameters: Mapping[str, Any]) -> Table:
        """Answers a query in SQL."""

@final
class Table:
    """A table: the result of a query in SQL, or the list of an answer."""

    @staticmethod
    def from_columns(columns: list[tuple[str, str, list[Any]]]) -> Table:
        """Makes a table of columns: the name, the type and the cells of each."""
    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
    def __len__(self) -> int: ...
    def rows(self) -> list[dict[str, Any]]:
        """The rows as dictionaries."""
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
