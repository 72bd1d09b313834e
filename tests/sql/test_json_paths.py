"""The functions of JSON with the examples of Flink's documentation, and positions of UNNEST."""

from __future__ import annotations

import pytest

from pyflink_on_spark.table import EnvironmentSettings, TableEnvironment
from pyflink_on_spark.table.expression import (
    JsonExistsOnError,
    JsonQueryOnEmptyOrError,
    JsonQueryWrapper,
)
from pyflink_on_spark.table.expressions import lit

pytestmark = pytest.mark.usefixtures("local_engine")


def _row(text: str) -> list[object]:
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    with environment.sql_query(text).execute().collect() as rows:
        (row,) = rows
    return list(row)


EXAMPLES = [
    ("JSON_EXISTS('{\"a\": true}', '$.a')", True),
    ("JSON_EXISTS('{\"a\": true}', '$.b')", False),
    ("JSON_EXISTS('{\"a\": [{ \"b\": 1 }]}', '$.a[0].b')", True),
    ("JSON_EXISTS('{\"a\": true}', 'strict $.b' TRUE ON ERROR)", True),
    ("JSON_EXISTS('{\"a\": true}', 'strict $.b' FALSE ON ERROR)", False),
    ("JSON_EXISTS('{\"a\": true}', 'strict $.b' UNKNOWN ON ERROR)", None),
    ("JSON_QUERY('{ \"a\": { \"b\": 1 } }', '$.a')", '{"b":1}'),
    ("JSON_QUERY('[1, 2]', '$')", "[1,2]"),
    ("JSON_QUERY(CAST(NULL AS STRING), '$')", None),
    ('JSON_QUERY(\'{"a":[{"c":"c1"},{"c":"c2"}]}\', \'lax $.a[*].c\')', '["c1","c2"]'),
    ("JSON_QUERY('{}', '$' WITH CONDITIONAL ARRAY WRAPPER)", "[{}]"),
    ("JSON_QUERY('[1, 2]', '$' WITH CONDITIONAL ARRAY WRAPPER)", "[1,2]"),
    ("JSON_QUERY('[1, 2]', '$' WITH UNCONDITIONAL ARRAY WRAPPER)", "[[1,2]]"),
    ("JSON_QUERY('1', '$')", None),
    ("JSON_QUERY('1', '$' WITH CONDITIONAL ARRAY WRAPPER)", "[1]"),
    ("JSON_QUERY('{}', 'lax $.invalid' EMPTY OBJECT ON EMPTY)", "{}"),
    ("JSON_QUERY('{}', 'strict $.invalid' EMPTY ARRAY ON ERROR)", "[]"),
    ("JSON_VALUE('{\"a\": [1, 2]}', '$.a[-1]')", "2"),
    ("JSON_VALUE('{}', '$.b' DEFAULT 'e' ON EMPTY DEFAULT 'r' ON ERROR)", "r"),
    ("JSON_QUERY('{\"a\": [{}, {\"c\": 1}]}', '$.a[*].c')", "[1]"),
    ("JSON_EXISTS('{\"a\": null}', '$.a')", False),
    ("JSON_VALUE('{\"a\": null}', '$.a' DEFAULT 'e' ON EMPTY)", None),
    ("JSON_VALUE('{}', 'lax $.b' DEFAULT 'e' ON EMPTY NULL ON ERROR)", "e"),
    ("JSON_VALUE('{\"a\": {}}', 'strict $.a' NULL ON EMPTY DEFAULT 'e' ON ERROR)", "e"),
]


def test_examples() -> None:
    columns = ", ".join(f"{text} AS c{n}" for n, (text, _) in enumerate(EXAMPLES))
    found = _row(f"SELECT {columns}")
    assert dict(zip((text for text, _ in EXAMPLES), found, strict=True)) == dict(EXAMPLES)


def test_of_expressions() -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    table = environment.from_elements([("{}",)], ["x"])
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
    with queried.execute().collect() as rows:
        assert [list(row) for row in rows] == [[True, "[]", "{}"]]


@pytest.mark.parametrize(
    ("collection", "expected"),
    [
        ("ARRAY['a', CAST(NULL AS STRING), 'b']", [["a", 1], [None, 2], ["b", 3]]),
        ("ARRAY[ROW(1, 'x'), ROW(2, 'y')]", [[1, "x", 1], [2, "y", 2]]),
        ("MAP['k', 5]", [["k", 5, 1]]),
    ],
)
def test_ordinality(collection: str, expected: list[object]) -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    values = "(VALUES (1)) AS v(i)"
    query = f"SELECT u.* FROM {values} CROSS JOIN UNNEST({collection}) WITH ORDINALITY AS u"
    with environment.sql_query(query).execute().collect() as rows:
        assert [list(row) for row in rows] == expected
