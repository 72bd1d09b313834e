"""Objects of JSON become rows, whatever way their values are written."""

from __future__ import annotations

import pytest

from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.tables.formats.json import JsonDecoder
from pyflink_on_spark._sql.types import logical

SCHEMA = Schema(
    ("n", "s", "d", "t", "x"),
    (logical.INT, logical.STRING, logical.DOUBLE, logical.timestamp(3), logical.decimal(5, 2)),
)
MOMENT = 1_704_067_201_500_000


def reading(text, strict=False):
    return list(JsonDecoder(SCHEMA, strict, False).load()(iter([text, text.encode()])))


@pytest.mark.parametrize(
    ("text", "row"),
    [
        (
            '{"n":1,"s":"a","d":1.5,"t":"2024-01-01 00:00:01.5","x":1.50}',
            (1, "a", 1.5, MOMENT, 150),
        ),
        (
            ' {"n": "1", "s": 1.50, "d": 2, "t": "2024-1-1 0:0:1.5Z"} ',
            (1, "1.50", 2.0, MOMENT, None),
        ),
        ('\n{"n":1.9,"s":true,"d":"1e3","x":"2.005"}', (1, "true", 1000.0, None, 201)),
        ('{"s":{"a":[1]},"n":null,"more":1}', (None, '{"a":[1]}', None, None, None)),
        ("{}", (None,) * 5),
        ('{"n":1} x', (1, None, None, None, None)),
        ('[{"n":1}]', (1, None, None, None, None)),
    ],
)
def test_values(text, row):
    assert reading(text) == [row, row]


@pytest.mark.parametrize(
    "text",
    ["{", "1", "[1]", "\xa0{}", '{"n":2147483648}', '{"n":"x"}', '{"t":"x"}', '{"t":5}'],
)
def test_what_is_wrong(text):
    with pytest.raises(ValueError, match="Failed to deserialize JSON"):
        reading(text)


def test_no_text_is_no_message():
    assert reading("") == []


def test_fields_that_lack():
    with pytest.raises(ValueError, match="'s'"):
        reading('{"n":1}', strict=True)
