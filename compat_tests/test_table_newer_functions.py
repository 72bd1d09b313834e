"""Functions that Flink has had for a short while: of JSON, of addresses, percentiles."""

from __future__ import annotations

import pytest
from pyflink.table import EnvironmentSettings, TableEnvironment
from pyflink.table.expression import JsonOnNull
from pyflink.table.expressions import (
    col,
    json_array_agg,
    json_object_agg,
    lit,
)

from compat_tests.tables import changes, check_values, query, rows

LETTERS = "(VALUES (1,'a',5,1.5),(2,'b',NULLIF(1,1),2.5),(3,'c',7,NULLIF(1.5,1.5))) AS t(i,k,v,d)"
NUMBERS = "(VALUES (1,10),(2,20),(3,30),(4,40),(5,CAST(NULL AS INT))) AS t(i,v)"


@pytest.fixture
def b():
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode())


def test_quotes_of_json(b):
    check_values(b, {
        """JSON_QUOTE('a"b\\c/é' || CHR(10) || CHR(1))""": '"a\\"b\\\\c\\/\\u00e9\\n\x01"',
        "JSON_QUOTE('/' || CHR(9) || CHR(8) || CHR(12) || CHR(13) || CHR(127))":
            '"\\/\\t\\b\\f\\r\x7f"',
        "JSON_QUOTE(CAST(NULL AS STRING))": None,
        """JSON_UNQUOTE('"a\\"b\\u0041\\n"')""": 'a"bA\n',
        """JSON_UNQUOTE('"\\/\\b\\t"')""": "/\b\t",
        """JSON_UNQUOTE('"\\ud83d\\ude00"')""": "\U0001f600",
        """JSON_UNQUOTE('"a"b"')""": 'a"b',
        """JSON_UNQUOTE('"abc')""": '"abc',
        """JSON_UNQUOTE('abc')""": "abc",
        """JSON_UNQUOTE('""')""": "",
        """JSON_UNQUOTE('"a\\x"')""": '"a\\x"',
        """JSON_UNQUOTE('"a\\u00zz"')""": '"a\\u00zz"',
        """JSON_UNQUOTE(' "a" ')""": ' "a" ',
        """JSON_UNQUOTE('[1, "a"]')""": '[1, "a"]',
        "JSON_UNQUOTE(CAST(NULL AS STRING))": None,
    })  # fmt: skip


def test_json_of_numbers_and_moments(b):
    check_values(b, {
        "JSON_STRING(CAST(5 AS DECIMAL(5,2)))": "5.00",
        "JSON_STRING(CAST(0.0000001 AS DECIMAL(10,8)))": "1.0E-7",
        "JSON_OBJECT('a' VALUE CAST(5 AS DECIMAL(5,2)))": '{"a":5.00}',
        "JSON_ARRAY(CAST(5.5 AS DECIMAL(5,2)), CAST(100 AS DECIMAL(20,0)))": "[5.50,100]",
        "JSON_STRING(TIMESTAMP '2020-01-01 00:00:00')": '"2020-01-01T00:00:00"',
        "JSON_ARRAY(CAST(1.1 AS FLOAT))": "[1.100000023841858]",
        "JSON_STRING(ARRAY[CAST(1 AS DECIMAL(5,1))])": "[1.0]",
        "JSON_STRING(MAP['a', CAST(1 AS DECIMAL(5,1))])": '{"a":1.0}',
    })  # fmt: skip


def test_json_of_large_and_small_numbers(b):
    check_values(b, {
        "JSON_STRING(1e20)": "1.0E+20",
        "JSON_STRING(1e7)": "1.0E+7",
        "JSON_STRING(1e6)": "1000000.0",
        "JSON_STRING(12345678.9e0)": "12345678.9",
        "JSON_STRING(1.5e-4)": "0.00015",
        "JSON_STRING(1e-7)": "1.0E-7",
        "JSON_STRING(1.234e300)": "1.234E+300",
        "JSON_STRING(0e0)": "0.0",
        "JSON_STRING(-0e0)": "0.0",
        "JSON_STRING(CAST(1e20 AS FLOAT))": "1.0000000200408773E+20",
        "JSON_STRING(CAST(1e10 AS FLOAT))": "1.0E+10",
        "JSON_STRING(CAST('NaN' AS DOUBLE))": '"NaN"',
        "JSON_STRING(CAST('Infinity' AS DOUBLE))": '"Infinity"',
        "JSON_STRING(CAST(0.00000012 AS DECIMAL(20,10)))": "1.200E-7",
        "JSON_STRING(CAST(0 AS DECIMAL(20,10)))": "0E-10",
        "JSON_OBJECT('a' VALUE 1e20)": '{"a":1.0E+20}',
        "JSON_ARRAY(1e20, 1e-7, 1e6)": "[1.0E+20,1.0E-7,1000000.0]",
        "JSON_STRING(ARRAY[1e20])": "[1.0E+20]",
        "CAST(1e20 AS STRING)": "1.0E20",
    })  # fmt: skip


def test_no_order_in_aggregates(b):
    numbers = "(VALUES 1,3,2) AS t(v)"
    check_values(b, {
        "JSON_ARRAYAGG(v ORDER BY v DESC)": "[1,3,2]",
        "JSON_ARRAYAGG(v) WITHIN GROUP (ORDER BY v DESC)": "[1,3,2]",
        "ARRAY_AGG(v ORDER BY v)": [1, 3, 2],
    }, numbers)  # fmt: skip
    with pytest.raises(Exception, match="ORDER BY unexpected"):
        query(b, f"SELECT SUM(v ORDER BY v) FROM {numbers}")
    with pytest.raises(Exception, match="must not contain a WITHIN GROUP clause"):
        query(b, f"SELECT SUM(v) WITHIN GROUP (ORDER BY v) FROM {numbers}")


def test_counts_of_different_values(b, t_env):
    text = "SELECT k, APPROX_COUNT_DISTINCT(v) FROM (VALUES (1,'a'),(1,'b'),(1,'a')) AS t(k,v)"
    assert query(b, f"{text} GROUP BY k") == [(1, 2)]
    with pytest.raises(Exception, match="not support yet for streaming"):
        query(t_env, f"{text} GROUP BY k")
    assert query(b, "SELECT SINGLE_VALUE(v) FROM (VALUES 1) AS t(v)") == [(1,)]
    assert query(b, "SELECT TRANSLATE3('hello', 'elo', 'ip')") == [("hipp",)]


@pytest.mark.parametrize("value", ["DATE '2020-01-01'", "TIME '10:00:00'"])
def test_dates_are_no_json(b, value):
    with pytest.raises(Exception, match="not scalar or cannot be converted into JSON"):
        query(b, f"SELECT JSON_OBJECT('a' VALUE {value})")


def test_addresses(b):
    known = {
        "127.0.0.1": 2130706433, "255.255.255.255": 4294967295, "127.1": 2130706433,
        "127.0.1": 2130706433, "1": 1, "01.02.03.04": 16909060, "08.1.1.1": 134283521,
    }  # fmt: skip
    wrong = ["256.0.0.1", "a", "", "1.2.3.4.5", " 1.2.3.4", "1.2.3.4 ", "1.2.3.", "1..2.3",
             "-1.2.3.4", "+1.2.3.4", "1.65536", "1.2.65536", "4294967295"]  # fmt: skip
    check_values(b, {
        **{f"INET_ATON('{text}')": number for text, number in known.items()},
        **{f"INET_ATON('{text}')": None for text in wrong},
        "INET_ATON(CAST(NULL AS STRING))": None,
        "INET_NTOA(2130706433)": "127.0.0.1",
        "INET_NTOA(4294967295)": "255.255.255.255",
        "INET_NTOA(CAST(5 AS TINYINT))": "0.0.0.5",
        "INET_NTOA(0)": "0.0.0.0",
        "INET_NTOA(-1)": None,
        "INET_NTOA(4294967296)": None,
        "INET_NTOA(CAST(NULL AS BIGINT))": None,
    })  # fmt: skip


def test_json_in_json(b):
    check_values(b, {
        """JSON_OBJECT('a' VALUE JSON('{"b": 1}'))""": '{"a":{"b":1}}',
        "JSON_ARRAY(JSON('[1, 2]'), 3)": "[[1,2],3]",
        "JSON_OBJECT('a' VALUE JSON(CAST(NULL AS STRING)))": '{"a":null}',
    })  # fmt: skip


@pytest.mark.parametrize(
    "expression",
    [
        "JSON('[1]')",
        "JSON_ARRAY(JSON('nope'))",
        "JSON_QUOTE(1)",
        "INET_NTOA('5')",
        "INET_NTOA(1.5)",
    ],
)
def test_wrong_arguments(b, expression):
    with pytest.raises(Exception, match=r"JSON|Unrecognized|argument|Cannot apply|Expecting"):
        query(b, f"SELECT {expression}")


def test_aggregates_that_make_json(b):
    check_values(b, {
        "JSON_OBJECTAGG(KEY k VALUE v)": '{"a":5,"b":null,"c":7}',
        "JSON_OBJECTAGG(k VALUE v ABSENT ON NULL)": '{"a":5,"c":7}',
        "JSON_OBJECTAGG(k: d NULL ON NULL)": '{"a":1.5,"b":2.5,"c":null}',
        "JSON_OBJECTAGG(KEY k VALUE JSON_ARRAY(v))": '{"a":[5],"b":[],"c":[7]}',
        "JSON_ARRAYAGG(v)": "[5,7]",
        "JSON_ARRAYAGG(v ABSENT ON NULL)": "[5,7]",
        "JSON_ARRAYAGG(v NULL ON NULL)": "[5,null,7]",
        "JSON_ARRAYAGG(v > 5 NULL ON NULL)": "[false,null,true]",
        "JSON_ARRAYAGG(k)": '["a","b","c"]',
        "JSON_ARRAYAGG(ARRAY[i, v])": "[[1,5],[2,null],[3,7]]",
        "JSON_ARRAYAGG(JSON_OBJECT('x' VALUE v))": '[{"x":5},{"x":null},{"x":7}]',
    }, LETTERS)  # fmt: skip
    nothing = f"SELECT JSON_ARRAYAGG(v), JSON_OBJECTAGG(KEY k VALUE v) FROM {LETTERS} WHERE i > 9"
    assert query(b, nothing) == [("[]", "{}")]


def test_fields_of_an_object_are_in_the_order_of_their_names(b):
    names = ["pear", "fig", "apple", "kiwi", "plum", "date", "lime", "zeta", "beta", "x", "yy", "n"]
    values = ", ".join(f"('{name}', {number})" for number, name in enumerate(names))
    text = f"SELECT JSON_OBJECTAGG(KEY k VALUE v) FROM (VALUES {values}) AS t(k, v)"
    fields = ",".join(f'"{name}":{names.index(name)}' for name in sorted(names))
    assert query(b, text) == [("{" + fields + "}",)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("JSON_OBJECTAGG(KEY 'x' VALUE v)", "Key 'x' is already present"),
        ("JSON_OBJECTAGG(KEY CAST(NULL AS STRING) VALUE v)", "NULL|null"),
        ("JSON_OBJECTAGG(KEY i VALUE v)", "Cannot apply 'JSON_OBJECTAGG_NULL_ON_NULL'"),
        ("JSON_ARRAYAGG(DISTINCT v)", "DISTINCT"),
        ("JSON_ARRAYAGG(v) FILTER (WHERE i > 2)", "FILTER"),
    ],
)
def test_what_json_is_not_made_of(b, call, message):
    with pytest.raises(Exception, match=message):
        query(b, f"SELECT {call} FROM {LETTERS}")


def test_json_of_rows_that_change(t_env):
    numbers = "(VALUES (1,'a'),(2,'b'),(3,'c'),(4,'a')) AS t(i,k)"
    sums = f"SELECT k, SUM(i) AS s FROM {numbers} GROUP BY k"
    text = f"SELECT JSON_ARRAYAGG(s), JSON_OBJECTAGG(KEY k VALUE s) FROM ({sums})"
    found = [row[1:] for row in changes(t_env.sql_query(text)) if row[0] in {"+I", "+U"}]
    assert found == [
        ("[1]", '{"a":1}'), ("[1,2]", '{"a":1,"b":2}'), ("[1,2,3]", '{"a":1,"b":2,"c":3}'),
        ("[2,3]", '{"b":2,"c":3}'), ("[2,3,5]", '{"a":5,"b":2,"c":3}'),
    ]  # fmt: skip


def test_percentiles(b):
    check_values(b, {
        "PERCENTILE(v, 0.5)": 25.0,
        "PERCENTILE(v, 0.3)": 19.0,
        "PERCENTILE(v, 0)": 10.0,
        "PERCENTILE(v, 1)": 40.0,
        "PERCENTILE(v, ARRAY[0.25, 0.75, 1.0])": [17.5, 32.5, 40.0],
        "PERCENTILE(v, 0.5, i)": 30.0,
        "PERCENTILE(v, 0.5, -1)": None,
        "PERCENTILE(v, 0.5, CAST(NULL AS INT))": None,
        "PERCENTILE(CAST(v AS DECIMAL(10, 2)), 0.5)": 25.0,
        "PERCENTILE(CAST(v AS DOUBLE), 0.5)": 25.0,
        "PERCENTILE(v, 0.5) FILTER (WHERE i < 3)": 15.0,
    }, NUMBERS)  # fmt: skip
    assert query(b, f"SELECT PERCENTILE(DISTINCT v, 0.5) FROM {NUMBERS}") == [(25.0,)]
    nothing = f"SELECT PERCENTILE(v, 0.5), PERCENTILE(v, ARRAY[0.1]) FROM {NUMBERS} WHERE i > 9"
    assert query(b, nothing) == [(None, None)]
    grouped = query(b, f"SELECT MOD(i, 2), PERCENTILE(v, 0.5) FROM {NUMBERS} GROUP BY MOD(i, 2)")
    assert sorted(grouped) == [(0, 30.0), (1, 20.0)]


@pytest.mark.parametrize(
    "arguments",
    ["v, 1.5", "v, -1", "v, CAST(NULL AS DOUBLE)", "'a', 0.5", "v, 'a'", "v", "v, ARRAY[2.0]",
     "v, 0.5, CAST(i AS DOUBLE)"],
)  # fmt: skip
def test_wrong_percentiles(b, arguments):
    with pytest.raises(Exception, match=r"PERCENTILE|Invalid input arguments"):
        query(b, f"SELECT PERCENTILE({arguments}) FROM {NUMBERS}")


def test_percentiles_of_rows_that_change(t_env):
    text = (
        "SELECT PERCENTILE(v, 0.5), PERCENTILE(v, ARRAY[0.1, 0.9]) FROM (VALUES 10, 20, 30) AS t(v)"
    )
    found = [row[1:] for row in changes(t_env.sql_query(text)) if row[0] in {"+I", "+U"}]
    assert found == [
        (10.0, [10.0, 10.0]),
        (15.0, [11.000000000000002, 19.0]),
        (20.0, [12.0, 27.999999999999996]),
    ]  # fmt: skip
    sums = (
        "SELECT k, SUM(i) AS s FROM (VALUES (1,'a'),(2,'b'),(3,'c'),(4,'a')) AS t(i,k) GROUP BY k"
    )
    found = changes(t_env.sql_query(f"SELECT PERCENTILE(s, 0.5) FROM ({sums})"))
    assert [value for kind, value in found if kind != "-U"] == [1.0, 1.5, 2.0, 2.5, 3.0]


def test_expressions(b):
    table = b.sql_query(f"SELECT * FROM {LETTERS}")
    aggregated = table.select(
        json_array_agg(JsonOnNull.NULL, col("v")),
        json_object_agg(JsonOnNull.ABSENT, col("k"), col("v")),
        col("v").percentile(0.5),
    )
    assert rows(aggregated) == [("[5,null,7]", '{"a":5,"c":7}', 6.0)]
    computed = b.from_elements([(1,)], ["a"]).select(
        lit("127.1").inet_aton(), lit(1).inet_ntoa(),
        lit("a").json_quote(), lit('"a"').json_unquote(),
    )  # fmt: skip
    assert rows(computed) == [(2130706433, "0.0.0.1", '"a"', "a")]
