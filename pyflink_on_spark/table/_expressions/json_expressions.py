"""Expressions that make JSON."""

from __future__ import annotations

from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.syntax.expressions import json_item
from pyflink_on_spark.table._expressions.parts import written_operand
from pyflink_on_spark.table.expression import Expression, JsonOnNull, _call


def json_string(value) -> Expression:
    """Return a value as JSON."""
    return _call("JSON_STRING", value)


def json_object(on_null: JsonOnNull = JsonOnNull.NULL, *args) -> Expression:
    """Return an object of JSON, of names and values in turns."""
    written = tuple(json_item(written_operand(arg)) for arg in args)
    return Expression(syntax.Call("JSON_OBJECT", written, symbols=(on_null.name,)))


def json_array(on_null: JsonOnNull = JsonOnNull.ABSENT, *args) -> Expression:
    """Return an array of JSON."""
    written = tuple(json_item(written_operand(arg)) for arg in args)
    return Expression(syntax.Call("JSON_ARRAY", written, symbols=(on_null.name,)))


def json(value) -> Expression:
    """Return the JSON of a text as it is, for ``json_object`` and ``json_array``."""
    return _call("JSON", value)


def json_object_agg(on_null: JsonOnNull, key_expr: str | Expression[str], value_expr) -> Expression:
    """Return an object of JSON of the rows of a group."""
    text = _call("JSON_STRING", value_expr)
    return _call(f"JSON_OBJECTAGG_{on_null.name}_ON_NULL", key_expr, text)


def json_array_agg(on_null: JsonOnNull, item_expr) -> Expression:
    """Return an array of JSON of the rows of a group."""
    return _call(f"JSON_ARRAYAGG_{on_null.name}_ON_NULL", _call("JSON_STRING", item_expr))
