"""VARIANT: values whose type is known when a query runs."""

from __future__ import annotations

import pytest
from pyflink.table import EnvironmentSettings, TableEnvironment

from compat_tests.tables import check_values, query, value

MANY = (
    '{"b": 1, "a": [1, 2.5, "x", null, true, 1e20, 1.50, 1e2, 100.0, 12345678901, '
    '123456789012345678901234567890], "c": {}}'
)
MADE = (
    '{"a":[1,2.5,"x",null,true,1.0E20,1.5,100.0,100,12345678901,'
    '123456789012345678901234567890],"b":1,"c":{}}'
)
TEXTS = """(VALUES '{"a": 1}', '{"a": "x"}', '{}', '{"a":null}', '{"a":[1, 2]}') AS t(x)"""


@pytest.fixture
def b():
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode())


def test_values(b):
    expected = [
        (
            f"JSON_STRING(PARSE_JSON('{MANY}'))",
            MADE,
        ),
        ("""JSON_STRING(PARSE_JSON('{"a":1,"a":2}', true))""", '{"a":2}'),
        ("""JSON_STRING(TRY_PARSE_JSON('{"a":1,"a":2}'))""", None),
        ("JSON_STRING(TRY_PARSE_JSON('nope'))", None),
        ("JSON_STRING(TRY_PARSE_JSON(''))", None),
        ("JSON_STRING(TRY_PARSE_JSON(' [1] '))", "[1]"),
        ("JSON_STRING(PARSE_JSON(CAST(NULL AS STRING)))", None),
        ("""JSON_STRING(PARSE_JSON('{"a": {"b": [10, 20]}}')['a']['b'][2])""", "20"),
        ("JSON_STRING(PARSE_JSON('[1,2]')[3])", None),
        ("""JSON_STRING(PARSE_JSON('{"a": 1}')['b'])""", None),
        ("JSON_STRING(PARSE_JSON('[5,6]')[CAST(1 AS BIGINT)])", "5"),
        ("""PARSE_JSON('{"a": null}')['a'] IS NULL""", False),
        ("""PARSE_JSON('{"a": null}')['b'] IS NULL""", True),
        ("PARSE_JSON('1') = PARSE_JSON('1')", True),
        ("PARSE_JSON('1') = PARSE_JSON('2')", False),
        ("TYPEOF(PARSE_JSON('1'))", "VARIANT NOT NULL"),
        ("TYPEOF(TRY_PARSE_JSON('1'))", "VARIANT"),
        ("TYPEOF(PARSE_JSON('[1]')[0])", "VARIANT"),
        ("JSON_OBJECT('a' VALUE PARSE_JSON('[1,2]'))", '{"a":[1,2]}'),
        ("JSON_ARRAY(PARSE_JSON('[1,2]'))", "[[1,2]]"),
        ("JSON_STRING(COALESCE(TRY_PARSE_JSON('nope'), PARSE_JSON('2')))", "2"),
        ("JSON_STRING(CASE WHEN TRUE THEN PARSE_JSON('1') ELSE PARSE_JSON('2') END)", "1"),
        (r"""JSON_STRING(PARSE_JSON('"é\u00e9\"\\/\t"'))""", r'"éé\"\\/\t"'),
    ]  # fmt: skip
    check_values(b, dict(expected))


def test_columns(b):
    text = f"SELECT JSON_STRING(v['a']) FROM (SELECT PARSE_JSON(x) AS v FROM {TEXTS})"
    assert query(b, text) == [("1",), ('"x"',), (None,), ("null",), ("[1,2]",)]
    text = f"SELECT COUNT(v['a']) FROM (SELECT PARSE_JSON(x) AS v FROM {TEXTS})"
    assert query(b, text) == [(4,)]


@pytest.mark.parametrize(
    "expression",
    [
        "CAST(PARSE_JSON('1') AS INT)",
        "CAST(PARSE_JSON('1') AS STRING)",
        "TRY_CAST(PARSE_JSON('1') AS INT)",
        "CAST(PARSE_JSON('1') AS VARIANT)",
        "CAST(1 AS VARIANT)",
    ],
)
def test_no_casts(b, expression):
    with pytest.raises(Exception, match="Cast function cannot convert value of type"):
        value(b, expression)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("JSON_STRING(PARSE_JSON('nope'))", "Failed to parse json string"),
        ("""JSON_STRING(PARSE_JSON('{"a":1,"a":2}'))""", "VARIANT_DUPLICATE_KEY"),
        ("JSON_STRING(PARSE_JSON('[1,2]')['a'])", "variant"),
        ("""JSON_STRING(PARSE_JSON('{"a":1}')[0])""", "variant"),
        ("PARSE_JSON('1') < PARSE_JSON('2')", "Comparable type|Cannot apply"),
        ("PARSE_JSON(1) IS NULL", "Invalid|Cannot apply"),
        ("PARSE_JSON('1', 'x') IS NULL", "Invalid|Cannot apply"),
        ("""PARSE_JSON('{"a": 1}').a""", "Incompatible types|not found"),
        ("IF(TRUE, PARSE_JSON('1'), PARSE_JSON('2')) IS NULL", "Cannot apply 'IF'"),
    ],
)
def test_what_fails(b, expression, message):
    with pytest.raises(Exception, match=message):
        value(b, expression)


@pytest.mark.parametrize("column", ["PARSE_JSON('1')", "BITMAP_BUILD(ARRAY[1])"])
def test_python_has_no_such_values(b, column):
    table = b.sql_query(f"SELECT {column} AS v")
    for take in (
        lambda: table.execute().collect(),
        lambda: table.get_schema().get_field_data_types(),
    ):
        with pytest.raises(TypeError, match="is not supported yet in current python type system"):
            take()


def test_printed(b, printed):
    result = b.execute_sql("""SELECT PARSE_JSON('{"b":[1, "x"],"a":null}') AS v, 1 AS i""")
    lines = printed(result.print)
    assert """{"a":null,"b":[1,"x"]}""" in lines[3]


def test_a_print_table(b, printed):
    b.get_config().set("parallelism.default", "1")
    b.execute_sql("CREATE TABLE p (v VARIANT, m BITMAP, i INT) WITH ('connector' = 'print')")
    insert = "INSERT INTO p SELECT PARSE_JSON('[1, \"x\"]'), BITMAP_BUILD(ARRAY[5, 1]), 1"
    assert printed(lambda: b.execute_sql(insert).wait()) == ['+I[[1,"x"], {1,5}, 1]']
