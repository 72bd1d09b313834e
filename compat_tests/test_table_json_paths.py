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
