"""Small parts of the Table API: names of functions, texts that `+` joins, rows of expressions."""

from __future__ import annotations

import pytest
from pyflink.table import DataTypes
from pyflink.table.expressions import call, col, lit, row
from pyflink.util.exceptions import TableException

from compat_tests.tables import rows


@pytest.fixture
def table(t_env):
    fields = [DataTypes.FIELD("s", DataTypes.STRING()), DataTypes.FIELD("n", DataTypes.INT())]
    return t_env.from_elements([("Hi", 1)], DataTypes.ROW(fields))


def test_plus_joins_texts(table):
    joined = table.select(
        (col("s") + "flink").alias("a"),
        (lit("x") + col("s")).alias("b"),
        (col("s") + col("n")).alias("c"),
    )
    assert rows(joined) == [("Hiflink", "xHi", "Hi1")]
    with pytest.raises(Exception, match="ValidationException"):
        table.select(col("n") + col("s"))


def test_a_view_of_the_table_api_has_no_text(t_env, table):
    t_env.create_temporary_view("v", table)
    with pytest.raises(TableException, match="not supported for views registered by Table API"):
        t_env.execute_sql("SHOW CREATE VIEW v")


def test_names_of_functions_in_the_table_api(table):
    called = table.select(
        call("charLength", col("s")).alias("a"),
        call("ifThenElse", lit(True), 1, 2).alias("b"),
        call("plus", col("n"), 1).alias("c"),
    )
    assert rows(called) == [(2, 1, 2)]
    assert rows(table.select(call("sum0", col("n")))) == [(1,)]
    assert rows(table.select(call("SUM0", col("n")))) == [(1,)]


def test_functions_that_only_the_table_api_calls_so(t_env):
    table = t_env.sql_query("SELECT 1 AS n, 'Ab' AS s, TRUE AS b, ARRAY[7, 8] AS r, '{}' AS j")
    b, s = col("b"), col("s")
    found = table.select(
        call("isTrue", b), call("isFalse", b), call("isNotTrue", b), call("isNotFalse", b),
        call("isNull", b), call("isNotNull", b), call("upperCase", s), call("lowerCase", s),
        call("at", col("r"), 2), call("similar", s, "A.*"), call("notBetween", col("n"), 2, 3),
        call("IS_JSON", col("j")),
    )  # fmt: skip
    assert rows(found) == [
        (True, False, False, True, False, True, "AB", "ab", 8, True, True, True),
    ]  # fmt: skip


def test_elements_that_are_rows_of_expressions(t_env):
    fields = [
        DataTypes.FIELD("a", DataTypes.BIGINT()),
        DataTypes.FIELD("b", DataTypes.STRING()),
        DataTypes.FIELD("c", DataTypes.FLOAT()),
    ]
    made = t_env.from_elements([row(1, "abc", 2.0), row(2, "def", 3.0)], DataTypes.ROW(fields))
    assert sorted(rows(made)) == [(1, "abc", 2.0), (2, "def", 3.0)]
