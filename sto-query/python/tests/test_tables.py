"""Tables are read by other libraries."""

from __future__ import annotations

import pytest
from conftest import need

import sto

CELLS = """
    SELECT 1 AS number, 2.5 AS real, 'a' AS text, NULL AS none, x'00ff' AS bytes, 1 AS mixed
    UNION ALL SELECT 9007199254740993, 3, NULL, NULL, NULL, 'b'
"""


def test_rows_of_sql_are_dictionaries(store: sto.Store) -> None:
    table = store.sql(CELLS)
    assert table.column_names == ["number", "real", "text", "none", "bytes", "mixed"]
    assert len(table) == 2
    first, second = table.rows()
    assert list(first.values()) == [1, 2.5, "a", None, b"\0\xff", 1]
    assert list(second.values()) == [2**53 + 1, 3, None, None, None, "b"]


def test_pyarrow_reads_all_types(store: sto.Store) -> None:
    pyarrow = need("pyarrow")
    table = pyarrow.table(store.sql(CELLS))
    assert [str(kind) for kind in table.schema.types] == [
        "int64", "double", "large_string", "null", "large_binary", "large_string",
    ]  # fmt: skip
    assert table.to_pylist()[0] == {
        "number": 1, "real": 2.5, "text": "a", "none": None, "bytes": b"\0\xff", "mixed": "1",
    }  # fmt: skip
    assert table["number"][1].as_py() == 2**53 + 1
    assert table.to_pandas()["real"].sum() == 5.5


def test_polars_reads_the_list_of_an_answer(store: sto.Store) -> None:
    polars = need("polars")
    top = polars.DataFrame(store.top("v2"))
    assert top["function"].to_list() == ["parse", "read", "main"]
    assert top["self_value"].sum() == 3200
    assert top.schema["self_share"] == polars.Float64
    # The types do not depend on the rows.
    assert polars.DataFrame(store.top("v2", search="none")).schema == top.schema
    findings = polars.DataFrame(store.compare("v1", "v2"))
    assert "parse" in findings["function"].to_list()


def test_duckdb_joins_answers_and_queries(store: sto.Store) -> None:
    duckdb = need("duckdb")
    top = store.top("v2")
    modules = store.sql("SELECT DISTINCT function, count(*) AS builds FROM function_cost GROUP BY function")
    joined = duckdb.sql("SELECT builds FROM top JOIN modules USING (function) WHERE function = 'parse'")
    assert joined.fetchall() == [(2,)]
    del top, modules


def test_query_has_parameters(store: sto.Store) -> None:
    query = "SELECT name, :number + 1 AS more FROM executable WHERE version = :build"
    assert store.sql(query, {"build": "v1", "number": 2}).rows() == [{"name": "app", "more": 3}]
    with pytest.raises(sto.InvalidError, match="parameter `:build` without a value"):
        store.sql(query, {"number": 1})
    with pytest.raises(sto.InvalidError, match="`number`: expected a number or text"):
        store.sql(query, {"build": "v1", "number": None})  # type: ignore[dict-item]


def test_error_of_a_query_has_its_place(store: sto.Store) -> None:
    with pytest.raises(sto.InvalidError) as raised:
        store.sql("SELECT *\nFORM executable")
    assert raised.value.place == "FORM executable\n^"
    with pytest.raises(sto.InvalidError, match="one statement"):
        store.sql("SELECT 1; SELECT 2")
    with pytest.raises(sto.InvalidError, match="read-only"):
        store.sql("DELETE FROM executable")
    with pytest.raises(sto.NotFoundError):
        store.sql("SELECT * FROM find_regressions('v1', 'v9')")


def test_table_prints_its_first_rows(store: sto.Store) -> None:
    text = repr(store.sql("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100) SELECT i FROM n"))
    assert text.splitlines()[-1] == "... and 70 more rows"


def test_answer_without_a_list_is_no_table(store: sto.Store) -> None:
    with pytest.raises(TypeError, match="no list"):
        store.labels().table()
