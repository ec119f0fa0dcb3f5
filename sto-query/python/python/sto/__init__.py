"""Stores profiles of programs, and tells what got slower between two builds, and why.

    >>> import sto
    >>> store = sto.memory()
    >>> for build, stacks in [("v1", b"main;parse 3\\nmain;render 5\\n"), ("v2", b"main;parse 9\\nmain;render 5\\n")]:
    ...     _ = store.ingest(stacks, program="server", build=build)
    >>> [(function.function, function.self.samples) for function in store.top("v2").functions]
    [('parse', 9), ('render', 5), ('main', 0)]

`open` opens a store in a folder. Its methods answer questions: `top`, `tree`, `compare` and many more, and `sql`.
Answers have attributes, print what the command `sto` prints, and are tables for polars, pyarrow, DuckDB and pandas.
`flame` and `diff` draw themselves in Jupyter. Errors are subclasses of `Error`.
"""

from ._answers import Answer, Drawing, Record, Tree
from ._errors import BusyError, Error, InvalidError, NotFoundError, TooLargeError, UnsupportedError
from ._sto import Table
from ._store import Store, memory, open

__all__ = [
    "Answer",
    "BusyError",
    "Drawing",
    "Error",
    "InvalidError",
    "NotFoundError",
    "Record",
    "Store",
    "Table",
    "TooLargeError",
    "Tree",
    "UnsupportedError",
    "memory",
    "open",
]

# Names in messages and `help` are those that users import.
for _name in __all__:
    if _name != "Table":
        globals()[_name].__module__ = __name__
