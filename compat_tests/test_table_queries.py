"""Projections and filters, in SQL and with expressions."""

# ruff: noqa: DTZ001

from __future__ import annotations

import datetime
import decimal

import pytest
from pyflink.common import Row
from pyflink.table import DataTypes
from pyflink.table.expressions import col, if_then_else, lit, null_of

from compat_tests.tables import query, rows, value

ROWS = [(1, "a", 1.5), (2, "b", None), (3, None, -2.0)]


@pytest.fixture
def table(t_env):
    kind = DataTypes.ROW(
        [
            DataTypes.FIELD("id", DataTypes.INT()),
            DataTypes.FIELD("name", DataTypes.STRING()),
            DataTypes.FIELD("score", DataTypes.DOUBLE()),
        ]
    )
    found = t_env.from_elements(ROWS, kind)
    t_env.create_temporary_view("t", found)
    return found


def test_all_columns(t_env, table):
    assert query(t_env, "SELECT * FROM t") == ROWS


def test_projection(t_env, table):
    assert query(t_env, "SELECT name, id + 1 FROM t") == [("a", 2), ("b", 3), (None, 4)]


def test_projection_of_expressions(table):
    assert rows(table.select(col("name"), col("id") + 1)) == [("a", 2), ("b", 3), (None, 4)]


def test_names_of_columns(t_env, table):
    names = t_env.sql_query("SELECT id, id + 1, id AS x, UPPER(name) FROM t").get_schema()
    assert names.get_field_names() == ["id", "EXPR$1", "x", "EXPR$3"]
    names = table.select(col("id"), col("id") + 1, col("id").alias("x"), lit(1)).get_schema()
    assert names.get_field_names() == ["id", "_c1", "x", "_c3"]


def test_filter(t_env, table):
    assert query(t_env, "SELECT id FROM t WHERE score > 0") == [(1,)]
    assert query(t_env, "SELECT id FROM t WHERE NOT score > 0") == [(3,)]
    assert query(t_env, "SELECT id FROM t WHERE score > 0 OR name = 'b'") == [(1,), (2,)]
    assert query(t_env, "SELECT id FROM t WHERE name IS NOT NULL AND id <> 1") == [(2,)]
    assert rows(table.filter(col("score") > 0).select(col("id"))) == [(1,)]
    assert rows(table.where(~(col("score") > 0)).select(col("id"))) == [(2,), (3,)]


def test_subquery_and_aliases(t_env, table):
    text = "SELECT x.b FROM (SELECT id AS a, name AS b FROM t) AS x WHERE x.a < 3"
    assert query(t_env, text) == [("a",), ("b",)]
    assert query(t_env, "SELECT y FROM t AS u(x, y, z) WHERE u.x = 2") == [("b",)]


def test_view_and_name_of_a_table(t_env, table):
    t_env.create_temporary_view("v", table.select(col("id") * 2))
    assert query(t_env, "SELECT `_c0` FROM v") == [(2,), (4,), (6,)]
    assert query(t_env, f"SELECT id FROM {table} WHERE id = 3") == [(3,)]


def test_union_all_takes_the_common_type(t_env):
    both = t_env.sql_query("SELECT 1 AS x UNION ALL SELECT 2.5")
    assert str(both.get_schema().get_field_data_types()[0]) == "DECIMAL"
    assert sorted(rows(both)) == [(decimal.Decimal("1.0"),), (decimal.Decimal("2.5"),)]


def test_with(t_env, table):
    assert query(t_env, "WITH w AS (SELECT id FROM t WHERE id > 1) SELECT id + 1 FROM w") == [
        (3,), (4,),
    ]  # fmt: skip


def test_values(t_env):
    assert query(t_env, "VALUES (1, 'a'), (2, 'bcd')") == [(1, "a"), (2, "bcd")]
    text = "SELECT * FROM (VALUES (1), (CAST(NULL AS INT))) AS t(x)"
    assert query(t_env, text) == [(1,), (None,)]


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("TRUE AND CAST(NULL AS BOOLEAN)", None),
        ("FALSE AND CAST(NULL AS BOOLEAN)", False),
        ("TRUE OR CAST(NULL AS BOOLEAN)", True),
        ("FALSE OR CAST(NULL AS BOOLEAN)", None),
        ("NOT CAST(NULL AS BOOLEAN)", None),
        ("CAST(NULL AS INT) = 1", None),
        ("CAST(NULL AS INT) IS NULL", True),
        ("CAST(NULL AS BOOLEAN) IS NOT TRUE", True),
        ("CAST(NULL AS BOOLEAN) IS UNKNOWN", True),
        ("CAST(NULL AS INT) IS DISTINCT FROM 1", True),
        ("CAST(NULL AS INT) IN (1, 2)", None),
        ("3 IN (1, CAST(NULL AS INT))", None),
        ("1 IN (1, CAST(NULL AS INT))", True),
        ("3 NOT IN (1, 2)", True),
        ("2 BETWEEN 1 AND 3", True),
        ("2 NOT BETWEEN 1 AND 3", False),
    ],
)
def test_three_values(t_env, expression, result):
    assert value(t_env, expression) is result


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("1 + 2 * 3", 7),
        ("7 / 2", 3),
        ("-7 / 2", -3),
        ("-7 % 3", -1),
        ("MOD(7, -3)", 1),
        ("2147483647 + 1", -2147483648),
        ("CAST(127 AS TINYINT) + CAST(1 AS TINYINT)", -128),
        ("9223372036854775807 + 1", -9223372036854775808),
        ("1 + 1.5", decimal.Decimal("2.5")),
        ("1.5 * 2.25", decimal.Decimal("3.375")),
        ("TYPEOF(CAST(1 AS DECIMAL(10, 3)) * 2)", "DECIMAL(21, 3) NOT NULL"),
        (
            "CAST('1.0000000001' AS DECIMAL(20, 10)) * CAST('1.0000000003' AS DECIMAL(18, 10))",
            decimal.Decimal("1.0000000004000000000"),
        ),
        ("7 / 2.0", decimal.Decimal("3.500000")),
        ("1.00 / 3", decimal.Decimal("0.3333333333333")),
        ("10.5 - 0.25", decimal.Decimal("10.25")),
        ("1e1 + 1", 11.0),
        ("-CAST(5 AS BIGINT)", -5),
    ],
)
def test_arithmetic(t_env, expression, result):
    found = value(t_env, expression)
    assert found == result
    assert str(found) == str(result)


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("DATE '2024-01-31' + INTERVAL '1' MONTH", datetime.date(2024, 2, 29)),
        ("DATE '2024-01-31' + INTERVAL '1' DAY", datetime.date(2024, 2, 1)),
        ("TIME '23:59:59' + INTERVAL '2' SECOND", datetime.time(0, 0, 1)),
        (
            "TIMESTAMP '2024-01-01 00:00:00.5' - INTERVAL '1 01:00' DAY TO MINUTE",
            datetime.datetime(2023, 12, 30, 23, 0, 0, 500000),
        ),
        (
            "TIMESTAMP '2024-03-31 10:00:00' - INTERVAL '1' MONTH",
            datetime.datetime(2024, 2, 29, 10),
        ),
    ],
)
def test_times_and_intervals(t_env, expression, result):
    assert value(t_env, expression) == result


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("CASE WHEN 1 > 2 THEN 'x' ELSE 'yy' END", "yy"),
        ("CASE 2 WHEN 1 THEN 1 WHEN 2 THEN 2.5 END", decimal.Decimal("2.5")),
        ("CASE WHEN FALSE THEN 1 END", None),
        ("COALESCE(CAST(NULL AS INT), 2)", 2),
        ("NULLIF(1, 1)", None),
        ("IF(1 < 2, 'a', 'b')", "a"),
    ],
)
def test_conditions(t_env, expression, result):
    found = value(t_env, expression)
    assert found == result


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("CAST(2.9 AS INT)", 2),
        ("CAST(-2.9 AS INT)", -2),
        ("CAST(300 AS TINYINT)", 44),
        ("CAST(1e10 AS INT)", 2147483647),
        ("CAST(' 12 ' AS INT)", 12),
        ("TRY_CAST('x' AS INT)", None),
        ("CAST(1.255 AS DECIMAL(5, 2))", decimal.Decimal("1.26")),
        ("CAST('1.5' AS DOUBLE)", 1.5),
        ("CAST(1e10 AS STRING)", "1.0E10"),
        ("CAST(TRUE AS STRING)", "TRUE"),
        ("CAST('true' AS BOOLEAN)", True),
        ("CAST(12.30 AS STRING)", "12.30"),
        ("CAST(TIMESTAMP '2024-02-29 01:02:03.4' AS STRING)", "2024-02-29 01:02:03.4"),
        ("CAST(TIMESTAMP '2024-02-29 01:02:03.4' AS DATE)", datetime.date(2024, 2, 29)),
        ("CAST(TIMESTAMP '2024-02-29 01:02:03' AS TIME)", datetime.time(1, 2, 3)),
        ("CAST(DATE '2024-02-29' AS TIMESTAMP(3))", datetime.datetime(2024, 2, 29)),
        ("CAST('2024-02-29 01:02:03' AS TIMESTAMP(3))", datetime.datetime(2024, 2, 29, 1, 2, 3)),
        ("CAST('ab' AS CHAR(4))", "ab  "),
        ("CAST(ARRAY[1, 2] AS STRING)", "[1, 2]"),
        ("CAST(MAP['k', 1] AS STRING)", "{k=1}"),
        ("CAST(ROW(1, 'x') AS STRING)", "(1, x)"),
        ("CAST(5 AS STRING) || 'x'", "5x"),
    ],
)
def test_casts(t_env, expression, result):
    found = value(t_env, expression)
    assert found == result
    assert type(found) is type(result)


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("CAST(ARRAY[ARRAY[1, 2], ARRAY[3]] AS ARRAY<ARRAY<STRING>>)", [["1", "2"], ["3"]]),
        ("CAST(MAP[text, ARRAY[1.5]] AS MAP<INT, ARRAY<INT>>)", {7: [1]}),
        ("CAST(ROW(text, 1) AS ROW<a INT, b STRING>)", Row(7, "1")),
        ("TRY_CAST(ARRAY[text, '4'] AS ARRAY<INT>)", [7, 4]),
        ("TRY_CAST(ARRAY[text, 'x'] AS ARRAY<INT>)", None),
        ("TRY_CAST(ROW('x', text) AS ROW<a INT, b STRING>)", None),
    ],
)
def test_casts_of_elements(t_env, expression, result):
    text = f"SELECT {expression} FROM (VALUES ('7')) AS t(text)"
    assert query(t_env, text) == [(result,)]


def test_casts_of_elements_use_the_time_zone_of_the_session(t_env):
    t_env.get_config().set_local_timezone("Asia/Shanghai")
    text = "SELECT CAST(CAST(ARRAY[TO_TIMESTAMP_LTZ(0, 3)] AS ARRAY<STRING>) AS STRING)"
    assert query(t_env, text) == [("[1970-01-01 08:00:00.000]",)]


def test_collections(t_env):
    text = "SELECT ARRAY[1, 2], MAP['a', 1], ROW(1, 'x')"
    ((array, mapping, row),) = query(t_env, text)
    assert (array, mapping, tuple(row)) == ([1, 2], {"a": 1}, (1, "x"))


def test_elements_of_collections(t_env):
    kind = DataTypes.ROW(
        [
            DataTypes.FIELD("a", DataTypes.ARRAY(DataTypes.INT())),
            DataTypes.FIELD("m", DataTypes.MAP(DataTypes.STRING(), DataTypes.INT())),
            DataTypes.FIELD("r", DataTypes.ROW([DataTypes.FIELD("x", DataTypes.INT())])),
        ]
    )
    table = t_env.from_elements([([10, 20], {"k": 1}, (5,))], kind)
    t_env.create_temporary_view("c", table)
    text = "SELECT a[2], a[3], m['k'], m['z'], c.r.x, r.x FROM c"
    assert query(t_env, text) == [(20, None, 1, None, 5, 5)]
    chosen = table.select(col("a").at(1), col("m").at("k"), col("r").get("x"))
    assert rows(chosen) == [(10, 1, 5)]


@pytest.mark.parametrize("name", ["one", "Select", "a_schema.order", "`a.b`"])
def test_methods_take_reserved_words_as_names(t_env, table, name):
    if "." in name.strip("`") and "`" not in name:
        t_env.execute_sql("CREATE DATABASE IF NOT EXISTS a_schema")
    t_env.create_temporary_view(name, table)
    assert rows(t_env.from_path(name).select(col("id")).limit(1)) == [(1,)]
    assert t_env.drop_temporary_view(name)


@pytest.mark.parametrize("name", ["1a", "a-b", "my view"])
def test_names_that_methods_refuse(t_env, table, name):
    with pytest.raises(Exception, match=f"Invalid SQL identifier {name}"):
        t_env.create_temporary_view(name, table)


def test_division_of_doubles(t_env, table):
    assert query(t_env, "SELECT score / 0, -score / 0 FROM t WHERE id = 1") == [
        (float("inf"), float("-inf"))
    ]


def test_columns_as_attributes_and_conditions(table):
    chosen = table.select(if_then_else(table.id > 2, "big", "small"), null_of(DataTypes.INT()))
    assert rows(chosen) == [("small", None), ("small", None), ("big", None)]


def test_alias(table):
    assert table.alias("a", "b").get_schema().get_field_names() == ["a", "b", "score"]


def test_schema_of_a_query(t_env, table, printed):
    query_table = t_env.sql_query("SELECT id, 'abc' AS c, 1.50 AS d, id = 1 AS e FROM t")
    assert printed(query_table.print_schema) == [
        "(",
        "  `id` INT,",
        "  `c` CHAR(3) NOT NULL,",
        "  `d` DECIMAL(3, 2) NOT NULL,",
        "  `e` BOOLEAN",
        ")",
    ]


ROW_OF_TWO = "(SELECT CAST(ROW(1, ROW(2, 3)) AS ROW<x INT, y ROW<a INT, b INT>>) AS r, 5 AS z)"


@pytest.mark.parametrize(
    ("selected", "names", "expected"),
    [
        ("r.*", ["x", "y"], (1, Row(2, 3))),
        ("t.r.*, 1", ["x", "y", "EXPR$2"], (1, Row(2, 3), 1)),
        ("z, r.*, r.x", ["z", "x", "y", "x0"], (5, 1, Row(2, 3), 1)),
        ("r.y.*", ["a", "b"], (2, 3)),
        ("t.r.y.*, t.*", ["a", "b", "r", "z"], (2, 3, Row(1, Row(2, 3)), 5)),
    ],
)
def test_all_fields_of_a_row(t_env, selected, names, expected):
    table = t_env.sql_query(f"SELECT {selected} FROM {ROW_OF_TWO} AS t")
    assert table.get_schema().get_field_names() == names
    assert rows(table) == [expected]


def test_all_fields_of_no_row(t_env):
    nothing = "(SELECT CAST(NULL AS ROW<x INT NOT NULL, y STRING>) AS r, 5 AS z)"
    assert query(t_env, f"SELECT r.* FROM {nothing}") == [(None, None)]
    with pytest.raises(Exception, match=r"Not a record type. The '\*' operator requires a record"):
        query(t_env, f"SELECT z.* FROM {nothing}")


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("1", "TIMESTAMP_LTZ(3)", r"It's recommended to use TO_TIMESTAMP_LTZ\(numeric_col, prec"),
        ("1", "TIMESTAMP(3)", r"recommended to use TO_TIMESTAMP\(FROM_UNIXTIME\(numeric_col\)\)"),
        ("CURRENT_TIMESTAMP", "INT", "The cast from TIMESTAMP_LTZ type to NUMERIC type is not all"),
        ("LOCALTIMESTAMP", "INT", r"recommended to use UNIX_TIMESTAMP\(CAST\(timestamp_col AS STR"),
    ],
)
def test_numbers_are_no_moments(t_env, source, target, message):
    with pytest.raises(Exception, match=message):
        value(t_env, f"CAST({source} AS {target})")
