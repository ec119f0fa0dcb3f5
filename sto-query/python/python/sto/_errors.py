"""Exceptions of this package."""

from __future__ import annotations

from pathlib import Path


class Error(Exception):
    """An error of sto. Its message says what is wrong, where, and what to do about it.

    path: The file that the error is about, if there is one.
    place: The place in the file, such as `line 12`, or in an SQL query.
    """

    def __init__(self, message: str, path: str | Path | None = None, place: str | None = None) -> None:
        super().__init__(message)
        self.path = None if path is None else Path(path)
        self.place = place

    def __reduce__(self) -> tuple[type[Error], tuple[str, Path | None, str | None]]:
        return type(self), (str(self), self.path, self.place)


class NotFoundError(Error, LookupError):
    """Nothing has a name in the request: no store, build, function, event, label or file."""


class InvalidError(Error, ValueError):
    """A request, or a file that it names, contradicts itself or the data."""


class BusyError(Error):
    """Another process holds the store. The same request may succeed later."""


class TooLargeError(Error):
    """The answer would take too much memory or space."""


class UnsupportedError(Error):
    """This version of sto cannot read the data."""
