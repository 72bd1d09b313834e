"""GROUP BY, HAVING, DISTINCT, and the changes that they make."""

from __future__ import annotations

from decimal import Decimal

import pytest
from pyflink.table import DataTypes

from compat_tests.tables import changes, query

ROWS = "('a', 1), ('b', 2), ('a', 3), (CAST(NULL AS STRING), 4), ('b', 5), ('a', CAST(NULL AS INT))"


@pytest.fixture
def t(t_env):
    values = [("a", 1), ("b", 2), ("a", 3), (None, 4), ("b", 5), ("a", None)]
    fields = [DataTypes.FIELD("k", DataTypes.STRING()), DataTypes.FIELD("v", DataTypes.INT())]
    t_env.create_temporary_view("t", t_env.from_elements(values, DataTypes.ROW(fields)))
    return t_env


def found(t_env, text):
    return changes(t_env.sql_query(text))


def test_each_row_updates_its_group(t):
    assert found(t, "SELECT k, COUNT(*), SUM(v), AVG(v), MIN(v), MAX(v) FROM t GROUP BY k") == [
        ("+I", "a", 1, 1, 1, 1, 1),
        ("+I", "b", 1, 2, 2, 2, 2),
        ("-U", "a", 1, 1, 1, 1, 1),
        ("+U", "a", 2, 4, 2, 1, 3),
        ("+I", None, 1, 4, 4, 4, 4),
        ("-U", "b", 1, 2, 2, 2, 2),
        ("+U", "b", 2, 7, 3, 2, 5),
        ("-U", "a", 2, 4, 2, 1, 3),
        ("+U", "a", 3, 4, 2, 1, 3),
    ]


def test_having_is_a_filter_of_updates(t):
    assert found(t, "SELECT k, COUNT(*) AS c FROM t GROUP BY k HAVING COUNT(*) > 1") == [
        ("+U", "a", 2), ("+U", "b", 2), ("-U", "a", 2), ("+U", "a", 3),
    ]  # fmt: skip


def test_one_group(t):
    text = "SELECT COUNT(*), COUNT(DISTINCT k), SUM(v) FILTER (WHERE k = 'a') FROM t"
    assert found(t, text)[:3] == [("+I", 1, 1, 1), ("-U", 1, 1, 1), ("+U", 2, 2, 1)]
    assert found(t, text)[-1] == ("+U", 6, 2, 4)
    assert found(t, "SELECT SUM(v) FROM t WHERE v > 100") == []


def test_unchanged_results_are_no_updates(t):
    assert found(t, "SELECT MAX(v) FROM t WHERE k = 'a'") == [("+I", 1), ("-U", 1), ("+U", 3)]
    assert found(t, "SELECT DISTINCT k FROM t") == [("+I", "a"), ("+I", "b"), ("+I", None)]
    assert found(t, "SELECT k FROM t GROUP BY k") == [("+I", "a"), ("+I", "b"), ("+I", None)]


def test_aggregates_of_aggregates(t):
    inner = "(SELECT k, COUNT(*) AS c FROM t GROUP BY k)"
    assert found(t, f"SELECT c, COUNT(*) FROM {inner} GROUP BY c") == [
        ("+I", 1, 1), ("-U", 1, 1), ("+U", 1, 2), ("-U", 1, 2), ("+U", 1, 1), ("+I", 2, 1),
        ("-U", 1, 1), ("+U", 1, 2), ("-U", 1, 2), ("+U", 1, 1), ("-U", 2, 1), ("+U", 2, 2),
        ("-U", 2, 2), ("+U", 2, 1), ("+I", 3, 1),
    ]  # fmt: skip
    text = f"SELECT MAX(c), MIN(c), SUM(c), COUNT(DISTINCT c) FROM {inner}"
    assert found(t, text)[-1] == ("+U", 3, 1, 6, 3)


def test_expressions_over_groups(t):
    assert found(t, "SELECT k || 'x', SUM(v) * 2 + 1 FROM t WHERE k = 'b' GROUP BY k") == [
        ("+I", "bx", 5), ("-U", "bx", 5), ("+U", "bx", 15),
    ]  # fmt: skip
    big = "CASE WHEN v > 2 THEN 'big' ELSE 'small' END"
    assert found(t, f"SELECT {big}, COUNT(*) FROM t GROUP BY {big}")[-1] == ("+U", "small", 3)


def test_aggregate_functions(t):
    text = (
        "SELECT FIRST_VALUE(v), LAST_VALUE(v), LISTAGG(k), LISTAGG(k, '-'), COLLECT(v), "
        "AVG(CAST(v AS DOUBLE)), AVG(CAST(v AS DECIMAL(5, 2))), SUM(CAST(v AS DECIMAL(5, 2))), "
        "STDDEV_POP(v), VAR_SAMP(CAST(v AS DOUBLE)), STDDEV_SAMP(CAST(v AS DECIMAL(5, 2))) "
        "FROM t WHERE k IS NOT NULL"
    )
    assert found(t, text)[-1] == (
        "+U", 1, 5, "a,b,a,b,a", "a-b-a-b-a", {1: 1, 2: 1, 3: 1, 5: 1}, 2.75, Decimal("2.750000"),
        Decimal("11.00"), 1, 2.9166666666666665, Decimal("1.707825"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT v FROM t GROUP BY k", "Expression 'v' is not being grouped"),
        ("SELECT SUM(k) FROM t", "Cannot apply 'SUM' to arguments of type"),
    ],
)
def test_what_is_wrong(t, text, message):
    with pytest.raises(Exception, match=message):
        t.sql_query(text)


def test_batch_mode():
    from pyflink.table import EnvironmentSettings, TableEnvironment

    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.execute_sql(f"CREATE TEMPORARY VIEW t AS SELECT * FROM (VALUES {ROWS}) AS v (k, v)")
    rows = query(t_env, "SELECT k, COUNT(*), SUM(v) FROM t GROUP BY k")
    assert sorted(rows, key=repr) == [("a", 3, 4), ("b", 2, 7), (None, 1, 4)]
    assert query(t_env, "SELECT COUNT(*), SUM(v) FROM t WHERE v > 100") == [(0, None)]
    assert query(t_env, "SELECT k, v FROM t WHERE v IS NOT NULL ORDER BY v DESC") == [
        ("b", 5), (None, 4), ("a", 3), ("b", 2), ("a", 1),
    ]  # fmt: skip
