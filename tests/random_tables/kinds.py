"""The types of columns, and values of them: as JSON, as Python's objects and as SQL."""

from __future__ import annotations

import base64
import datetime
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Any

BOOLEAN, SMALLINT, INT, BIGINT = "BOOLEAN", "SMALLINT", "INT", "BIGINT"
FLOAT, DOUBLE, DECIMAL = "FLOAT", "DOUBLE", "DECIMAL(10, 2)"
STRING, BYTES = "STRING", "BYTES"
DATE, TIME, TIMESTAMP, LTZ = "DATE", "TIME(0)", "TIMESTAMP(3)", "TIMESTAMP_LTZ(3)"
ARRAY, MAP = "ARRAY<INT>", "MAP<STRING, INT>"
ROW, ROWS = "ROW<x INT, y STRING>", "ARRAY<ROW<x INT, y STRING>>"

_EPOCH = "2024-01-01 00:00:00"


@dataclass(frozen=True)
class Kind:
    """A type, with its values and names.

    Args:
        column: the name of a table's column of this type.
        value: makes a value in JSON's types.
        sql: makes a literal of a value.
        python: makes the object that PyFlink takes for a value.
        data_type: how PyFlink writes the type.
        comparable: whether values can be ordered, grouped and joined by.
    """

    column: str
    value: Callable[[Random], Any]
    sql: Callable[[Any], str]
    python: Callable[[Any], Any]
    data_type: str
    comparable: bool = True


def seconds(number: int) -> str:
    """Return a timestamp some seconds after the first one."""
    return str(datetime.datetime.fromisoformat(_EPOCH) + datetime.timedelta(seconds=number))


def _quoted(value: Any) -> str:
    return "'" + str(value).replace("'", "''") + "'"


def _same(value: Any) -> Any:
    return value


def _one_of(*values: Any) -> Callable[[Random], Any]:
    return lambda rng: rng.choice(values)


def _row(rng: Random) -> list[Any]:
    return [_or_null(rng, KINDS[INT].value), _or_null(rng, KINDS[STRING].value)]


def _map(rng: Random) -> dict[str, Any]:
    keys = sorted(rng.sample("abc", rng.randint(0, 2)))  # as a HashMap of Java has them
    return {key: _or_null(rng, KINDS[INT].value) for key in keys}


def _or_null(rng: Random, value: Callable[[Random], Any]) -> Any:
    return None if rng.random() < 0.15 else value(rng)


def _sql_array(value: Any) -> str:
    inner = ", ".join(literal(INT, element) for element in value)
    return f"ARRAY[{inner}]" if value else f"CAST(NULL AS {ARRAY})"


def _sql_map(value: Any) -> str:
    inner = ", ".join(f"'{key}', {literal(INT, element)}" for key, element in value.items())
    return f"MAP[{inner}]" if value else f"CAST(NULL AS {MAP})"


def _sql_row(value: Any) -> str:
    return f"CAST(ROW({literal(INT, value[0])}, {literal(STRING, value[1])}) AS {ROW})"


def _python_row(value: Any) -> Any:
    from pyflink.common import Row

    return Row(*value)


KINDS: dict[str, Kind] = {
    BOOLEAN: Kind("cb", _one_of(True, False), str, _same, "BOOLEAN()"),
    SMALLINT: Kind(
        "ch", _one_of(-3, 0, 1, 2, 300), lambda v: f"CAST({v} AS SMALLINT)", _same, "SMALLINT()"
    ),
    INT: Kind("ci", _one_of(-2, -1, 0, 1, 1, 2, 2, 3, 7, 100), str, _same, "INT()"),
    BIGINT: Kind(
        "cl",
        _one_of(-5, 0, 1, 2, 3, 40, 5_000_000_000),
        lambda v: f"CAST({v} AS BIGINT)",
        _same,
        "BIGINT()",
    ),
    FLOAT: Kind(
        "cf", _one_of(-1.5, 0.0, 0.25, 2.0, 8.5), lambda v: f"CAST({v} AS FLOAT)", _same, "FLOAT()"
    ),
    DOUBLE: Kind(
        "cd",
        _one_of(-2.5, 0.0, 0.5, 1.0, 1.25, 3.75, 64.0),
        lambda v: f"CAST({v} AS DOUBLE)",
        _same,
        "DOUBLE()",
    ),
    DECIMAL: Kind(
        "cn",
        _one_of("-1.50", "0.00", "0.01", "1.25", "2.00", "19.99"),
        lambda v: f"CAST({v} AS DECIMAL(10, 2))",
        Decimal,
        "DECIMAL(10, 2)",
    ),
    STRING: Kind(
        "cs",
        _one_of("", "a", "a", "b", "b", "ab", "Abc", "a b", "x,y", "ü", "12", "a'b", " c "),
        _quoted,
        _same,
        "STRING()",
    ),
    BYTES: Kind(
        "cy",
        _one_of("", "00", "61", "6162", "ff00"),
        lambda v: f"x'{v}'",
        bytearray.fromhex,
        "BYTES()",
    ),
    DATE: Kind(
        "ct",
        _one_of("2023-12-31", "2024-01-01", "2024-02-29", "1999-12-31"),
        lambda v: f"DATE '{v}'",
        datetime.date.fromisoformat,
        "DATE()",
    ),
    TIME: Kind(
        "cm",
        _one_of("00:00:00", "12:34:56", "23:59:59"),
        lambda v: f"TIME '{v}'",
        datetime.time.fromisoformat,
        "TIME(0)",
    ),
    TIMESTAMP: Kind(
        "cp",
        _one_of(_EPOCH, "2024-01-01 00:00:07", "2023-12-31 23:59:59.5", "2000-02-29 23:59:58"),
        lambda v: f"TIMESTAMP '{v}'",
        datetime.datetime.fromisoformat,
        "TIMESTAMP(3)",
    ),
    LTZ: Kind(
        "cz",
        _one_of(_EPOCH, "2024-01-01 00:00:07", "2024-06-30 12:00:00"),
        lambda v: f"CAST(TIMESTAMP '{v}' AS TIMESTAMP_LTZ(3))",
        lambda v: datetime.datetime.fromisoformat(v).replace(tzinfo=datetime.UTC),
        "TIMESTAMP_LTZ(3)",
    ),
    ARRAY: Kind(
        "ca",
        lambda rng: [_or_null(rng, KINDS[INT].value) for _ in range(rng.randint(0, 3))],
        _sql_array,
        _same,
        "ARRAY(DataTypes.INT())",
        comparable=False,
    ),
    MAP: Kind(
        "ck",
        _map,
        _sql_map,
        _same,
        "MAP(DataTypes.STRING(), DataTypes.INT())",
        comparable=False,
    ),
    ROW: Kind(
        "cr",
        _row,
        _sql_row,
        _python_row,
        'ROW([DataTypes.FIELD("x", DataTypes.INT()), DataTypes.FIELD("y", DataTypes.STRING())])',
        comparable=False,
    ),
    ROWS: Kind(
        "cx",
        lambda rng: [_row(rng) for _ in range(rng.randint(0, 2))],
        lambda v: f"ARRAY[{', '.join(map(_sql_row, v))}]" if v else f"CAST(NULL AS {ROWS})",
        lambda v: [_python_row(e) for e in v],
        'ARRAY(DataTypes.ROW([DataTypes.FIELD("x", DataTypes.INT()), '
        'DataTypes.FIELD("y", DataTypes.STRING())]))',
        comparable=False,
    ),
}  # fmt: skip

OF_STREAMS = [BOOLEAN, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, STRING]
OF_ELEMENTS = [k for k in KINDS if k not in {TIME, LTZ, MAP}]
"""Types whose NULL PyFlink's from_elements can take."""
COMPARABLE = [name for name, kind in KINDS.items() if kind.comparable]
NUMBERS = [SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DECIMAL]


def value(kind: str, rng: Random) -> Any:
    """Return a random value of a type that is not NULL, in JSON's types."""
    return KINDS[kind].value(rng)


def literal(kind: str, value: Any) -> str:
    """Return SQL's literal of a value."""
    if value is None:
        return f"CAST(NULL AS {kind})"
    return KINDS[kind].sql(value)


def to_python(kind: str, value: Any) -> Any:
    """Return the object that PyFlink takes for a value."""
    kind = kind.removesuffix(" NOT NULL")
    return None if value is None else KINDS[kind].python(value)


def to_file(kind: str, value: Any) -> Any:
    """Return a value as a file of JSON holds it."""
    kind = kind.removesuffix(" NOT NULL")
    if value is None:
        return None
    if kind == BYTES:
        return base64.b64encode(bytes.fromhex(value)).decode()
    if kind == LTZ:
        return value + "Z"
    if kind == ROW:
        return {"x": value[0], "y": value[1]}
    if kind == ROWS:
        return [to_file(ROW, element) for element in value]
    return value
