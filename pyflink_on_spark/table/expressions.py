"""Functions that begin expressions."""

from __future__ import annotations

from typing import Any, NoReturn

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.parser.statements import parse_expression
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.syntax.expressions import json_item
from pyflink_on_spark.common.data_types import DataType
from pyflink_on_spark.table._inner import syntax_of
from pyflink_on_spark.table.expression import Expression, JsonOnNull, TimePointUnit
from pyflink_on_spark.table.expression.expression import _call
from pyflink_on_spark.table.expression.parts import literal, logical_type, written_operand
from pyflink_on_spark.table.expression.texts import FLAT

__all__ = [
    "col",
    "lit",
    "range_",
    "and_",
    "or_",
    "not_",
    "current_date",
    "current_time",
    "current_timestamp",
    "local_time",
    "local_timestamp",
    "to_date",
    "to_timestamp",
    "to_timestamp_ltz",
    "date_format",
    "timestamp_diff",
    "convert_tz",
    "from_unixtime",
    "unix_timestamp",
    "array",
    "row",
    "map_",
    "map_from_arrays",
    "row_interval",
    "pi",
    "e",
    "rand",
    "rand_integer",
    "atan2",
    "negative",
    "concat",
    "concat_ws",
    "uuid",
    "null_of",
    "log",
    "source_watermark",
    "if_then_else",
    "coalesce",
    "with_all_columns",
    "with_columns",
    "without_columns",
    "json",
    "json_object_agg",
    "json_array_agg",
    "current_database",
    "current_watermark",
    "temporal_overlaps",
    "descriptor",
    "json_string",
    "json_object",
    "json_array",
    "call",
    "call_sql",
    "UNBOUNDED_ROW",
    "UNBOUNDED_RANGE",
    "CURRENT_ROW",
    "CURRENT_RANGE",
]


def col(name: str) -> Expression:
    """Return a column."""
    return Expression(name)


def lit(v: object, data_type: DataType = None) -> Expression:
    """Return a constant.

    Args:
        v: its value.
        data_type: its type, which must not have NULL; that of the value if not given.

    Raises:
        ValidationError: the value is None without a type, or the type is nullable.
    """
    if data_type is None:
        if v is None:
            raise ValidationError(
                "Cannot derive a data type for value 'null'. The data type must be specified "
                "explicitly."
            )
        return Expression(literal(v))
    kind = logical_type(data_type)
    if v is not None and kind.nullable:
        raise ValidationError(
            "Literals that have a non-null value must not have a nullable data type."
        )
    return Expression(literal(v, kind))


def null_of(data_type: DataType) -> Expression:
    """Return NULL of a type."""
    return Expression(syntax.Literal(None, logical_type(data_type)))


def and_(predicate0: bool | Expression[bool], predicate1: bool | Expression[bool],
         *predicates: bool | Expression[bool]) -> Expression[bool]:  # fmt: skip
    """True if all conditions hold."""
    joined = _call("AND", predicate0, predicate1)
    for predicate in predicates:
        args = (syntax_of(joined), written_operand(predicate))
        joined = Expression(syntax.Call("AND", args, symbols=FLAT))
    return joined


def or_(predicate0: bool | Expression[bool], predicate1: bool | Expression[bool],
        *predicates: bool | Expression[bool]) -> Expression[bool]:  # fmt: skip
    """True if any condition holds."""
    joined = _call("OR", predicate0, predicate1)
    for predicate in predicates:
        args = (syntax_of(joined), written_operand(predicate))
        joined = Expression(syntax.Call("OR", args, symbols=FLAT))
    return joined


def not_(expression: Expression[bool]) -> Expression[bool]:
    """True if the condition does not hold."""
    return _call("NOT", expression)


def if_then_else(condition: bool | Expression[bool], if_true, if_false) -> Expression:
    """Return one value where a condition is TRUE, and another one elsewhere."""
    return _call("IF", condition, if_true, if_false)


def array(head, *tail) -> Expression:
    """Return an array of some values."""
    return _call("ARRAY", head, *tail)


def map_(key, value, *tail) -> Expression:
    """Return a map of some keys and values, in turns."""
    return _call("MAP", key, value, *tail)


def row(head, *tail) -> Expression:
    """Return a row of some values."""
    return _call("ROW", head, *tail)


def object_of(class_name: str, *args) -> Expression:
    """Return an object of some names and values, in turns.

    Args:
        class_name: tells its type from others with the same fields; no class of Python.
        args: names of fields and their values, in turns.
    """
    return _call("OBJECT_OF", class_name, *args)


def current_date() -> Expression:
    """Return the date in the session's time zone."""
    return _call("CURRENT_DATE")


def current_time() -> Expression:
    """Return the time of day in the session's time zone."""
    return _call("CURRENT_TIME")


def current_timestamp() -> Expression:
    """Return the time at which a row is looked at."""
    return _call("CURRENT_TIMESTAMP")


def local_time() -> Expression:
    """Return the time of day in the session's time zone."""
    return _call("LOCALTIME")


def local_timestamp() -> Expression:
    """Return the date and the time of day in the session's time zone."""
    return _call("LOCALTIMESTAMP")


def to_date(
    date_str: str | Expression[str], format: str | Expression[str] | None = None
) -> Expression:
    """Return the date that a text means."""
    return _call("TO_DATE", *_given(date_str, format))


def to_timestamp(
    timestamp_str: str | Expression[str], format: str | Expression[str] | None = None
) -> Expression:
    """Return the timestamp that a text means."""
    return _call("TO_TIMESTAMP", *_given(timestamp_str, format))


def to_timestamp_ltz(*args) -> Expression:
    """Return the point in time of a number, or of a text."""
    return _call("TO_TIMESTAMP_LTZ", *args)


def date_format(timestamp, format) -> Expression:
    """Write a timestamp with a pattern of Java."""
    return _call("DATE_FORMAT", timestamp, format)


def timestamp_diff(time_point_unit: TimePointUnit, time_point1, time_point2) -> Expression:
    """Return how many whole units lie between two points in time."""
    args = (written_operand(time_point1), written_operand(time_point2))
    return Expression(syntax.Call("TIMESTAMPDIFF", args, symbols=(time_point_unit.name,)))


def convert_tz(
    date_str: str | Expression[str], tz_from: str | Expression[str], tz_to: str | Expression[str]
) -> Expression:
    """Return a local time in another time zone."""
    return _call("CONVERT_TZ", date_str, tz_from, tz_to)


def from_unixtime(unixtime, format=None) -> Expression:
    """Write the seconds since 1970 as a local time."""
    return _call("FROM_UNIXTIME", *_given(unixtime, format))


def unix_timestamp(
    date_str: str | Expression[str] | None = None, format: str | Expression[str] | None = None
) -> Expression:
    """Return the seconds since 1970 of a local time, or of now."""
    return _call("UNIX_TIMESTAMP", *_given(date_str, format))


def map_from_arrays(key, value) -> Expression:
    """Return a map of two arrays."""
    return _call("MAP_FROM_ARRAYS", key, value)


def pi() -> Expression[float]:
    """Return pi."""
    return _call("PI")


def e() -> Expression[float]:
    """Return e."""
    return _call("E")


def rand(seed: int | Expression[int] | None = None) -> Expression[float]:
    """Return a random number from 0 to 1."""
    return _call("RAND", *_given(seed))


def rand_integer(
    bound: int | Expression[int], seed: int | Expression[int] | None = None
) -> Expression:
    """Return a random number from 0 to less than a bound."""
    return _call("RAND_INTEGER", *_given(seed, bound))


def atan2(y, x) -> Expression[float]:
    """Return the angle of a point."""
    return _call("ATAN2", y, x)


def negative(v) -> Expression:
    """Return a number with the other sign."""
    return _call("UNARY -", v)


def concat(first: str | Expression[str], *others: str | Expression[str]) -> Expression[str]:
    """Return texts one after the other."""
    return _call("CONCAT", first, *others)


def concat_ws(
    separator: str | Expression[str],
    first: str | Expression[str],
    *others: str | Expression[str],
) -> Expression[str]:
    """Return texts with a separator between them; NULL is left out."""
    return _call("CONCAT_WS", separator, first, *others)


def uuid() -> Expression[str]:
    """Return a new UUID."""
    return _call("UUID")


def log(v, base=None) -> Expression[float]:
    """Return a logarithm, the natural one without a base."""
    return _call("LOG", v) if base is None else _call("LOG", base, v)


def source_watermark() -> Expression:
    """Return the watermarks of the source itself."""
    return _call("SOURCE_WATERMARK")


def coalesce(*args) -> Expression:
    """Return the first value that is not NULL."""
    return _call("COALESCE", *args)


def range_(start: str | int, end: str | int) -> Expression:
    """Return the columns from one to another one, by name or by position from 1."""
    return Expression(syntax.Call("RANGE", (written_operand(start), written_operand(end))))


def with_all_columns() -> Expression:
    """Return all columns."""
    return Expression(syntax.Star())


def with_columns(head, *tails) -> Expression:
    """Return some columns: ``col(...)``, positions, or ranges of them."""
    return Expression(syntax.Call("WITH_COLUMNS", tuple(map(_column, (head, *tails)))))


def without_columns(head, *tails) -> Expression:
    """Return all columns but some: ``col(...)``, positions, or ranges of them."""
    return Expression(syntax.Call("WITHOUT_COLUMNS", tuple(map(_column, (head, *tails)))))


def current_database() -> Expression:
    """Return the name of the current database."""
    return _call("CURRENT_DATABASE")


def current_watermark(rowtimeAttribute) -> Expression:
    """Return the watermark of a rowtime attribute; NULL before there is one."""
    return _call("CURRENT_WATERMARK", rowtimeAttribute)


def temporal_overlaps(
    left_time_point, left_temporal, right_time_point, right_temporal
) -> Expression:
    """True if two intervals of time overlap; each is a timestamp with an end or a length."""
    return _call("OVERLAPS", left_time_point, left_temporal, right_time_point, right_temporal)


def descriptor(*column_names: str) -> Expression:
    """Return the names of columns, for a function of tables."""
    _no_function("descriptor(*column_names)", "Use TABLE(...) with DESCRIPTOR(...) in sql_query.")


def _no_function(call: str, instead: str) -> NoReturn:
    raise_unsupported(
        call, kind=Gap.NOT_YET, reason="SQL has no such function here", instead=instead
    )


def row_interval(rows: int) -> Expression:
    """Return a number of rows, for windows."""
    return _call("ROW_INTERVAL", rows)


def call(f: str | Any, *args) -> Expression:
    """Call a function: one of the catalog by its name, or one of Python.

    Args:
        f: its name, or what ``udf``, ``udtf`` or ``udaf`` returned.
        args: the arguments.
    """
    if isinstance(f, str):
        return _call(f, *args)
    return f(*args)


def call_sql(sql_expression: str) -> Expression:
    """Return an expression that is written in SQL."""
    return Expression(parse_expression(sql_expression))


UNBOUNDED_ROW: Expression = Expression(syntax.Call("UNBOUNDED_ROW"))
UNBOUNDED_RANGE: Expression = Expression(syntax.Call("UNBOUNDED_RANGE"))
CURRENT_ROW: Expression = Expression(syntax.Call("CURRENT_ROW"))
CURRENT_RANGE: Expression = Expression(syntax.Call("CURRENT_RANGE"))


def _given(*operands: object) -> list[object]:
    return [operand for operand in operands if operand is not None]


def _column(given: object) -> syntax.Expression:
    if isinstance(given, str):
        raise ValidationError(
            f"with_columns and without_columns take expressions: col({given!r}), or range_(...)"
        )
    return written_operand(given)


__getattr__ = missing_name(__name__)


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
