"""JSON of any depth is read, or is an error of the text."""

from __future__ import annotations

import pytest

from pyflink_on_spark._sql.functions.builtin import json as functions
from pyflink_on_spark._sql.types.variants import variant_json

LEVELS = 100_000
ENDLESS = {
    "arrays": "[" * LEVELS + "]" * LEVELS,
    "objects": '{"a":' * LEVELS + "1" + "}" * LEVELS,
}
NESTED = "[" * 100 + "]" * 100


@pytest.mark.parametrize("kind", ENDLESS)
def test_json_that_is_nested_too_deeply(kind):
    text = ENDLESS[kind]
    assert not functions.is_json(text, "VALUE")
    assert not functions.json_exists(text, "$")
    assert functions.json_value(text, "$.a", "NULL", None, "DEFAULT", "wrong") == "wrong"
    assert functions.json_query(text, "$", "WITHOUT") is None
    assert functions.try_parse_json(text) is None
    for read in (functions.compact, functions.parse_json):
        with pytest.raises(ValueError, match="nested too deeply"):
            read(text)


def test_variants_that_are_nested_too_deeply():
    deep = ("INT", 1)
    for _ in range(LEVELS):
        deep = ("ARRAY", (deep,))
    with pytest.raises(ValueError, match="nested too deeply"):
        variant_json(deep)


def test_json_of_many_levels():
    assert functions.is_json(NESTED, "ARRAY")
    assert functions.json_query(NESTED, "$", "WITHOUT") == functions.compact(NESTED) == NESTED
    assert variant_json(functions.parse_json(NESTED)) == NESTED
