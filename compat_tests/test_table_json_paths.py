"""The functions of JSON with the examples of Flink's documentation, and positions of UNNEST."""

from __future__ import annotations

import pytest
from pyflink.table import EnvironmentSettings, TableEnvironment
from pyflink.table.expression import JsonExistsOnError, JsonQueryOnEmptyOrError, JsonQueryWrapper
from pyflink.table.expressions import lit

from compat_tests.tables import check_values, query, rows

EXAMPLES = {
    """JSON_EXISTS('{"a": true}', '$.a')""": True,
    """JSON_EXISTS('{"a": true}', '$.b')""": False,
    """JSON_EXISTS('{"a": [{ "b": 1 }]}', '$.a[0].b')""": True,
    """JSON_EXISTS('{"a": true}', 'strict $.b' TRUE ON ERROR)""": True,
    """JSON_EXISTS('{"a": true}', 'strict $.b' FALSE ON ERROR)""": False,
    """JSON_EXISTS('{"a": true}', 'strict $.b' UNKNOWN ON ERROR)""": None,
    """JSON_QUERY('{ "a": { "b": 1 } }', '$.a')""": '{"b":1}',
    "JSON_QUERY('[1, 2]', '$')": "[1,2]",
    "JSON_QUERY(CAST(NULL AS STRING), '$')": None,
    """JSON_QUERY('{"a":[{"c":"c1"},{"c":"c2"}]}', 'lax $.a[*].c')""": '["c1","c2"]',
    "JSON_QUERY('{}', '$' WITH CONDITIONAL ARRAY WRAPPER)": "[{}]",
    "JSON_QUERY('[1, 2]', '$' WITH CONDITIONAL ARRAY WRAPPER)": "[1,2]",
    "JSON_QUERY('[1, 2]', '$' WITH UNCONDITIONAL ARRAY WRAPPER)": "[[1,2]]",
    "JSON_QUERY('1', '$')": None,
    "JSON_QUERY('1', '$' WITH CONDITIONAL ARRAY WRAPPER)": "[1]",
    "JSON_QUERY('{}', 'lax $.invalid' EMPTY OBJECT ON EMPTY)": "{}",
    "JSON_QUERY('{}', 'strict $.invalid' EMPTY ARRAY ON ERROR)": "[]",
    """JSON_VALUE('{"a": [1, 2]}', '$.a[-1]')""": "2",
    "JSON_VALUE('{}', '$.b' DEFAULT 'e' ON EMPTY DEFAULT 'r' ON ERROR)": "r",
    """JSON_QUERY('{"a": [{}, {"c": 1}]}', '$.a[*].c')""": "[1]",
    """JSON_EXISTS('{"a": null}', '$.a')""": False,
    """JSON_VALUE('{"a": null}', '$.a' DEFAULT 'e' ON EMPTY)""": None,
    "JSON_VALUE('{}', 'lax $.b' DEFAULT 'e' ON EMPTY NULL ON ERROR)": "e",
    """JSON_VALUE('{"a": {}}', 'strict $.a' NULL ON EMPTY DEFAULT 'e' ON ERROR)""": "e",
}


@pytest.fixture(params=["streaming", "batch"])
def t(request):
    modes = {
        "streaming": EnvironmentSettings.in_streaming_mode,
        "batch": EnvironmentSettings.in_batch_mode,
    }
    return TableEnvironment.create(modes[request.param]())


def test_examples(t):
    check_values(t, EXAMPLES)


def test_expressions(t):
    table = t.from_elements([("{}",)], ["x"])
    queried = table.select(
        table.x.json_exists("strict $.b", JsonExistsOnError.TRUE),
        table.x.json_query(
            "lax $.b",
            JsonQueryWrapper.WITHOUT_ARRAY,
            JsonQueryOnEmptyOrError.EMPTY_ARRAY,
            JsonQueryOnEmptyOrError.EMPTY_OBJECT,
        ),
        lit("{}").json_query("strict $.b", on_error=JsonQueryOnEmptyOrError.EMPTY_OBJECT),
    )
    assert rows(queried) == [(True, "[]", "{}")]


@pytest.mark.parametrize(
    ("collection", "expected"),
    [
        ("ARRAY['a', CAST(NULL AS STRING), 'b']", [("a", 1), (None, 2), ("b", 3)]),
        ("ARRAY[ROW(1, 'x'), ROW(2, 'y')]", [(1, "x", 1), (2, "y", 2)]),
        ("MAP['k', 5]", [("k", 5, 1)]),
    ],
)
def test_ordinality(t, collection, expected):
    text = f"SELECT u.* FROM (VALUES (1)) AS v(i) CROSS JOIN UNNEST({collection}) WITH ORDINALITY"
    assert query(t, text + " AS u") == expected


def test_returned_types(t):
    check_values(t, {
        """JSON_VALUE('{"a":true}', '$.a' RETURNING BOOLEAN)""": True,
        """JSON_VALUE('{"a":1}', '$.a' RETURNING INTEGER)""": 1,
        """JSON_VALUE('{"a":1.5}', '$.a' RETURNING DOUBLE)""": 1.5,
        """JSON_VALUE('{"a":1e2}', '$.a' RETURNING DOUBLE)""": 100.0,
        """JSON_VALUE('{"a":null}', '$.a' RETURNING INTEGER)""": None,
        """JSON_VALUE('{"a":1}', '$.a' RETURNING STRING)""": "1",
        "JSON_VALUE('{}', 'lax $.a' RETURNING INTEGER DEFAULT 7 ON EMPTY)": 7,
        "JSON_VALUE('{}', '$.a' RETURNING INTEGER DEFAULT 3 ON ERROR)": 3,
        "JSON_VALUE('{}', 'lax $.a' RETURNING BOOLEAN DEFAULT TRUE ON EMPTY)": True,
        "JSON_VALUE('{}', 'lax $.a' DEFAULT 7 ON EMPTY)": "7",
        "JSON_VALUE('{}', 'lax $.a' RETURNING STRING DEFAULT 7.50 ON EMPTY)": "7.50",
    })  # fmt: skip


@pytest.mark.parametrize(
    ("document", "returned"),
    [
        ('"1"', "INTEGER"), ("1.5", "INTEGER"), ("99999999999", "INTEGER"), ("true", "INTEGER"),
        ("1", "DOUBLE"), ('"1.5"', "DOUBLE"), ('"true"', "BOOLEAN"), ("1", "BOOLEAN"),
        ('"1"', "INTEGER NULL ON EMPTY DEFAULT 7 ON ERROR"), ("1", "BIGINT"),
    ],
)  # fmt: skip
def test_values_of_other_types(t, document, returned):
    with pytest.raises(Exception, match=r"cannot be cast to|Unsupported type 'BIGINT'"):
        query(t, f"SELECT JSON_VALUE('{document}', 'lax $' RETURNING {returned})")


def test_exact_numbers(t):
    check_values(t, {
        """JSON_VALUE('{"a":1.50}', '$.a')""": "1.50",
        """JSON_VALUE('{"a":1e2}', '$.a')""": "1E+2",
        """JSON_VALUE('{"a":-0.0}', '$.a')""": "0.0",
        """JSON_VALUE('{"a":0.00000001}', '$.a')""": "1E-8",
        """JSON_VALUE('{"a":12345678901234567890.123456789}', '$.a')""":
            "12345678901234567890.123456789",
        """JSON_QUERY('{"a":[1.50,1e2,1.0,0.00000001,{"b":"\u00e9"}]}', '$.a')""":
            '[1.50,1E+2,1.0,1E-8,{"b":"é"}]',
    })  # fmt: skip
