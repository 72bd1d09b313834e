"""The operations of expressions: their types, and how each is written in SQL and for SQLite."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from tests.random_tables.kinds import (
    ARRAY,
    BIGINT,
    BOOLEAN,
    BYTES,
    COMPARABLE,
    DATE,
    DECIMAL,
    DOUBLE,
    FLOAT,
    INT,
    KINDS,
    LTZ,
    MAP,
    NUMBERS,
    ROW,
    ROWS,
    SMALLINT,
    STRING,
    TIME,
    TIMESTAMP,
)


@dataclass(frozen=True)
class Operation:
    """An operation.

    Args:
        result: its type.
        operands: their types.
        sql: a template of Flink's SQL.
        lite: a template of SQLite's, if that means the same.
        python: a template of the Table API's expressions, if it is not to be SQL there, too.
    """

    result: str
    operands: tuple[str, ...]
    sql: str
    lite: str | None = None
    python: str | None = None


_LITE = {BOOLEAN, SMALLINT, INT, BIGINT, DOUBLE, STRING}
"""The types that SQLite's values can stand for."""


def _lite(kind: str, template: str) -> str | None:
    return template if kind in _LITE else None


def _of_all_types() -> dict[str, Operation]:
    made = {}
    for kind in KINDS:
        null, given = "({0} IS NULL)", "({0} IS NOT NULL)"
        made[f"is_null:{kind}"] = Operation(
            BOOLEAN, (kind,), null, _lite(kind, null), "{0}.is_null"
        )
        made[f"is_not_null:{kind}"] = Operation(
            BOOLEAN, (kind,), given, _lite(kind, given), "{0}.is_not_null"
        )
        case = "CASE WHEN {0} THEN {1} ELSE {2} END"
        made[f"case:{kind}"] = Operation(kind, (BOOLEAN, kind, kind), case, _lite(kind, case))
        if kind in COMPARABLE:
            made[f"if:{kind}"] = Operation(
                kind,
                (BOOLEAN, kind, kind),
                "IF({0}, {1}, {2})",
                _lite(kind, "iif({0}, {1}, {2})"),
                "{0}.then({1}, {2})",
            )
        coalesce = "COALESCE({0}, {1})"
        made[f"coalesce:{kind}"] = Operation(kind, (kind, kind), coalesce, _lite(kind, coalesce))
        made[f"as_text:{kind}"] = Operation(STRING, (kind,), "CAST({0} AS STRING)")
        made[f"py_repr:{kind}"] = Operation(STRING, (kind,), f"{function_of('repr', kind)}({{0}})")
        made[f"py_same:{kind}"] = Operation(kind, (kind,), f"{function_of('same', kind)}({{0}})")
    return made


def function_of(name: str, kind: str) -> str:
    """Return the name of the Python function of a type."""
    return f"py_{name}_{KINDS[kind].column}"


def _of_comparable_types() -> dict[str, Operation]:
    made = {}
    for kind in COMPARABLE:
        for sign in ("=", "<>", "<", "<=", ">", ">="):
            if kind == BYTES and sign not in {"=", "<>"}:
                continue
            text = f"({{0}} {sign} {{1}})"
            python = text.replace("<>", "!=").replace(" = ", " == ")
            made[f"{sign}:{kind}"] = Operation(
                BOOLEAN, (kind, kind), text, _lite(kind, text), python
            )
        made[f"distinct:{kind}"] = Operation(
            BOOLEAN,
            (kind, kind),
            "({0} IS DISTINCT FROM {1})",
            _lite(kind, "({0} IS NOT {1})"),
        )
        made[f"nullif:{kind}"] = Operation(
            kind, (kind, kind), "NULLIF({0}, {1})", _lite(kind, "NULLIF({0}, {1})")
        )
        inside = "({0} IN ({1}, {2}))"
        made[f"in:{kind}"] = Operation(
            BOOLEAN, (kind,) * 3, inside, _lite(kind, inside), "{0}.in_({1}, {2})"
        )
        if kind not in {BOOLEAN, BYTES}:
            between = "({0} BETWEEN {1} AND {2})"
            made[f"between:{kind}"] = Operation(
                BOOLEAN, (kind,) * 3, between, _lite(kind, between), "{0}.between({1}, {2})"
            )
    return made


def _of_numbers() -> dict[str, Operation]:
    made = {}
    for kind in NUMBERS:
        for sign in "+-":
            text = f"({{0}} {sign} {{1}})"
            cast = f"CAST({text} AS {kind})" if kind in {SMALLINT, FLOAT, DECIMAL} else text
            lite = _lite(kind, text) if kind != SMALLINT else None
            made[f"{sign}:{kind}"] = Operation(
                kind, (kind, kind), cast, lite, text if cast == text else None
            )
        made[f"abs:{kind}"] = Operation(
            kind, (kind,), "ABS({0})", _lite(kind, "abs({0})"), "{0}.abs"
        )
        made[f"negative:{kind}"] = Operation(kind, (kind,), "(- {0})", _lite(kind, "(- {0})"))
        for other in NUMBERS:
            if NUMBERS.index(other) < NUMBERS.index(kind) and other not in {FLOAT, DOUBLE}:
                lite = {INT: "{0}", BIGINT: "{0}", DOUBLE: "CAST({0} AS REAL)"}.get(kind)
                made[f"{kind} of {other}"] = Operation(
                    kind, (other,), f"CAST({{0}} AS {kind})", lite and _lite(other, lite)
                )
    return made


_SIMPLE: dict[str, Operation] = {
    "and": Operation(BOOLEAN, (BOOLEAN, BOOLEAN), "({0} AND {1})", "({0} AND {1})", "({0} & {1})"),
    "or": Operation(BOOLEAN, (BOOLEAN, BOOLEAN), "({0} OR {1})", "({0} OR {1})", "({0} | {1})"),
    "not": Operation(BOOLEAN, (BOOLEAN,), "(NOT {0})", "(NOT {0})", "(~{0})"),
    "is_true": Operation(BOOLEAN, (BOOLEAN,), "({0} IS TRUE)", "({0} IS TRUE)", "{0}.is_true"),
    "is_not_false": Operation(
        BOOLEAN, (BOOLEAN,), "({0} IS NOT FALSE)", "({0} IS NOT FALSE)", "{0}.is_not_false"
    ),
    "is_unknown": Operation(BOOLEAN, (BOOLEAN,), "({0} IS UNKNOWN)", "({0} IS NULL)"),
    "like": Operation(BOOLEAN, (STRING,), "({0} LIKE '%a%')", "({0} LIKE '%a%')"),
    "like_one": Operation(BOOLEAN, (STRING,), "({0} LIKE '_b')", "({0} LIKE '_b')"),
    "not_like": Operation(BOOLEAN, (STRING,), "({0} NOT LIKE 'a%')", "({0} NOT LIKE 'a%')"),
    "similar": Operation(BOOLEAN, (STRING,), "({0} SIMILAR TO '(a|b)+')"),
    "regexp": Operation(BOOLEAN, (STRING,), "REGEXP({0}, '[0-9]')"),
    "starts": Operation(BOOLEAN, (STRING, STRING), "STARTSWITH({0}, {1})"),
    "text_of_true": Operation(BOOLEAN, (INT,), "CAST({0} AS BOOLEAN)"),
    "array_has": Operation(BOOLEAN, (ARRAY, INT), "ARRAY_CONTAINS({0}, {1})"),
    "py_even": Operation(BOOLEAN, (INT,), "py_even({0})"),
    "*": Operation(INT, (INT, INT), "({0} * {1})", None, "({0} * {1})"),
    "/": Operation(INT, (INT, INT), "({0} / NULLIF({1}, 0))", "({0} / NULLIF({1}, 0))"),
    "%": Operation(INT, (INT, INT), "MOD({0}, NULLIF({1}, 0))", "({0} % NULLIF({1}, 0))"),
    "sign": Operation(INT, (INT,), "SIGN({0})", "sign({0})"),
    "length": Operation(INT, (STRING,), "CHAR_LENGTH({0})", "length({0})", "{0}.char_length"),
    "position": Operation(INT, (STRING, STRING), "LOCATE({0}, {1})"),
    "ascii": Operation(INT, (STRING,), "ASCII({0})"),
    "int_of_text": Operation(INT, (STRING,), "TRY_CAST({0} AS INT)"),
    "int_of_double": Operation(INT, (DOUBLE,), "CAST({0} AS INT)", "CAST({0} AS INTEGER)"),
    "int_of_decimal": Operation(INT, (DECIMAL,), "CAST({0} AS INT)"),
    "int_of_bool": Operation(INT, (BOOLEAN,), "CAST({0} AS INT)"),
    "int_of_long": Operation(INT, (BIGINT,), "CAST(MOD({0}, 1000) AS INT)", "({0} % 1000)"),
    "year": Operation(BIGINT, (DATE,), "EXTRACT(YEAR FROM {0})"),
    "second": Operation(BIGINT, (TIMESTAMP,), "EXTRACT(SECOND FROM {0})"),
    "hour": Operation(BIGINT, (TIME,), "EXTRACT(HOUR FROM {0})"),
    "week_day": Operation(BIGINT, (DATE,), "DAYOFWEEK({0})"),
    "seconds_between": Operation(
        INT, (TIMESTAMP, TIMESTAMP), "TIMESTAMPDIFF(SECOND, {0}, {1})"
    ),
    "days_between": Operation(INT, (DATE, DATE), "TIMESTAMPDIFF(DAY, {0}, {1})"),
    "size_array": Operation(INT, (ARRAY,), "CARDINALITY({0})", None, "{0}.cardinality"),
    "size_map": Operation(INT, (MAP,), "CARDINALITY({0})", None, "{0}.cardinality"),
    "size_rows": Operation(INT, (ROWS,), "CARDINALITY({0})", None, "{0}.cardinality"),
    "first_of": Operation(INT, (ARRAY,), "{0}[1]", None, "{0}.at(1)"),
    "value_of": Operation(INT, (MAP,), "{0}['a']", None, "{0}.at('a')"),
    "row_x": Operation(INT, (ROW,), "({0}).x", None, "{0}.get('x')"),
    "rows_x": Operation(INT, (ROWS,), "({0}[1]).x"),
    "array_max": Operation(INT, (ARRAY,), "ARRAY_MAX({0})"),
    "array_at": Operation(INT, (ARRAY, INT), "ARRAY_POSITION({0}, {1})"),
    "greatest": Operation(INT, (INT, INT), "GREATEST({0}, {1})", "max({0}, {1})"),
    "least": Operation(INT, (INT, INT), "LEAST({0}, {1})", "min({0}, {1})"),
    "py_add": Operation(INT, (INT, INT), "py_add({0}, {1})"),
    "py_none": Operation(INT, (INT,), "py_none({0})"),
    "pd_add": Operation(INT, (INT, INT), "pd_add({0}, {1})"),
    "pd_double": Operation(DOUBLE, (DOUBLE,), "pd_double({0})"),
    "pd_upper": Operation(STRING, (STRING,), "pd_upper({0})"),
    "*l": Operation(BIGINT, (BIGINT, INT), "({0} * {1})", None, "({0} * {1})"),
    "double_of_text": Operation(DOUBLE, (STRING,), "TRY_CAST({0} AS DOUBLE)"),
    "double_of_decimal": Operation(DOUBLE, (DECIMAL,), "CAST({0} AS DOUBLE)"),
    "double_of_float": Operation(DOUBLE, (FLOAT,), "CAST({0} AS DOUBLE)"),
    "*d": Operation(DOUBLE, (DOUBLE, DOUBLE), "({0} * {1})", "({0} * {1})", "({0} * {1})"),
    "floor": Operation(DOUBLE, (DOUBLE,), "FLOOR({0})", None, "{0}.floor()"),
    "ceil": Operation(DOUBLE, (DOUBLE,), "CEIL({0})", None, "{0}.ceil()"),
    "round": Operation(DOUBLE, (DOUBLE,), "ROUND({0}, 1)"),
    "truncate": Operation(DOUBLE, (DOUBLE,), "TRUNCATE({0}, 1)"),
    "round_decimal": Operation(DECIMAL, (DECIMAL,), "CAST(ROUND({0}, 1) AS DECIMAL(10, 2))"),
    "decimal_of_text": Operation(DECIMAL, (STRING,), "TRY_CAST({0} AS DECIMAL(10, 2))"),
    "||": Operation(STRING, (STRING, STRING), "({0} || {1})", "({0} || {1})", "({0} + {1})"),
    "concat": Operation(STRING, (STRING, STRING), "CONCAT({0}, '-', {1})"),
    "concat_ws": Operation(STRING, (STRING, STRING), "CONCAT_WS('/', {0}, {1})"),
    "upper": Operation(STRING, (STRING,), "UPPER({0})", None, "{0}.upper_case"),
    "lower": Operation(STRING, (STRING,), "LOWER({0})", None, "{0}.lower_case"),
    "trim": Operation(STRING, (STRING,), "TRIM({0})", "trim({0})"),
    "initcap": Operation(STRING, (STRING,), "INITCAP({0})"),
    "substring": Operation(STRING, (STRING,), "SUBSTRING({0}, 1, 2)", "substr({0}, 1, 2)"),
    "substring_to": Operation(STRING, (STRING, INT), "SUBSTRING({0}, {1})"),
    "left": Operation(STRING, (STRING, INT), "LEFT({0}, {1})"),
    "right": Operation(STRING, (STRING, INT), "RIGHT({0}, {1})"),
    "replace": Operation(
        STRING, (STRING, STRING), "REPLACE({0}, 'a', {1})", "replace({0}, 'a', {1})"
    ),
    "reverse": Operation(STRING, (STRING,), "REVERSE({0})"),
    "lpad": Operation(STRING, (STRING,), "LPAD({0}, 4, '*')"),
    "regexp_replace": Operation(STRING, (STRING,), "REGEXP_REPLACE({0}, '[a-b]+', '<$0>')"),
    "regexp_extract": Operation(STRING, (STRING,), "REGEXP_EXTRACT({0}, '([a-z])([a-z])', 2)"),
    "split": Operation(STRING, (STRING,), "SPLIT_INDEX({0}, ' ', 0)"),
    "md5": Operation(STRING, (STRING,), "MD5({0})"),
    "hex": Operation(STRING, (INT,), "HEX({0})"),
    "date_format": Operation(STRING, (TIMESTAMP,), "DATE_FORMAT({0}, 'yyyy-MM-dd HH:mm:ss.SSS')"),
    "row_y": Operation(STRING, (ROW,), "({0}).y", None, "{0}.get('y')"),
    "array_join": Operation(STRING, (ARRAY,), "CAST(ARRAY_REVERSE({0}) AS STRING)"),
    "text_of_bytes": Operation(STRING, (BYTES,), "HEX(CAST({0} AS STRING))"),
    "py_text": Operation(STRING, (STRING, INT), "py_text({0}, {1})"),
    "encode": Operation(BYTES, (STRING,), "ENCODE({0}, 'UTF-8')"),
    "date_of": Operation(DATE, (TIMESTAMP,), "CAST({0} AS DATE)"),
    "date_of_text": Operation(DATE, (STRING,), "TRY_CAST({0} AS DATE)"),
    "next_day": Operation(DATE, (DATE,), "({0} + INTERVAL '1' DAY)"),
    "next_month": Operation(DATE, (DATE,), "({0} + INTERVAL '1' MONTH)"),
    "time_of": Operation(TIME, (TIMESTAMP,), "CAST({0} AS TIME(0))"),
    "later": Operation(TIMESTAMP, (TIMESTAMP,), "({0} + INTERVAL '90' SECOND)"),
    "earlier": Operation(TIMESTAMP, (TIMESTAMP,), "({0} - INTERVAL '2' DAY)"),
    "midnight": Operation(TIMESTAMP, (DATE,), "CAST({0} AS TIMESTAMP(3))"),
    "floor_time": Operation(TIMESTAMP, (TIMESTAMP,), "CAST(FLOOR({0} TO MINUTE) AS TIMESTAMP(3))"),
    "zoned": Operation(LTZ, (TIMESTAMP,), "CAST({0} AS TIMESTAMP_LTZ(3))"),
    "instant": Operation(LTZ, (INT,), "TO_TIMESTAMP_LTZ(CAST({0} AS BIGINT), 3)"),
    "local": Operation(TIMESTAMP, (LTZ,), "CAST({0} AS TIMESTAMP(3))"),
    "array": Operation(ARRAY, (INT, INT), "ARRAY[{0}, {1}]", None, "array({0}, {1})"),
    "array_append": Operation(ARRAY, (ARRAY, INT), "ARRAY_APPEND({0}, {1})"),
    "array_concat": Operation(ARRAY, (ARRAY, ARRAY), "ARRAY_CONCAT({0}, {1})"),
    "array_distinct": Operation(ARRAY, (ARRAY,), "ARRAY_DISTINCT({0})"),
    "array_reverse": Operation(ARRAY, (ARRAY,), "ARRAY_REVERSE({0})"),
    "array_sort": Operation(ARRAY, (ARRAY,), "ARRAY_SORT({0})"),
    "array_slice": Operation(ARRAY, (ARRAY,), "ARRAY_SLICE({0}, 1, 2)"),
    "array_remove": Operation(ARRAY, (ARRAY, INT), "ARRAY_REMOVE({0}, {1})"),
    "array_union": Operation(ARRAY, (ARRAY, ARRAY), "ARRAY_UNION({0}, {1})"),
    "array_except": Operation(ARRAY, (ARRAY, ARRAY), "ARRAY_EXCEPT({0}, {1})"),
    "map_values": Operation(ARRAY, (MAP,), "ARRAY_SORT(MAP_VALUES({0}))"),
    "py_array": Operation(ARRAY, (INT,), "py_array({0})"),
    "map": Operation(MAP, (INT, INT), "MAP['a', {0}, 'b', {1}]"),
    "py_map": Operation(MAP, (STRING, INT), "py_map({0}, {1})"),
    "row": Operation(ROW, (INT, STRING), f"CAST(ROW({{0}}, {{1}}) AS {ROW})"),
    "py_row": Operation(ROW, (INT, STRING), "py_row({0}, {1})"),
    "rows": Operation(ROWS, (ROW, ROW), "ARRAY[{0}, {1}]"),
    "rows_first": Operation(ROW, (ROWS,), "{0}[1]"),
}  # fmt: skip

OPERATIONS: dict[str, Operation] = {
    **_of_all_types(),
    **_of_comparable_types(),
    **_of_numbers(),
    **_SIMPLE,
}


NUMBER = "NUMBER"
"""Any type of numbers: the result of an operation on numbers of several types."""


def _of_mixed_numbers() -> dict[str, Operation]:
    """Return operations on numbers of any types, which only engines know the type of."""
    two, condition = (NUMBER, NUMBER), (BOOLEAN, NUMBER, NUMBER)
    made = {
        "n+": Operation(NUMBER, two, "({0} + {1})", None, "({0} + {1})"),
        "n-": Operation(NUMBER, two, "({0} - {1})", None, "({0} - {1})"),
        "n*": Operation(NUMBER, two, "({0} * {1})", None, "({0} * {1})"),
        "n/": Operation(NUMBER, two, "({0} / NULLIF({1}, 0))"),
        "negative": Operation(NUMBER, (NUMBER,), "(- {0})", None, "(-{0})"),
        "n_abs": Operation(NUMBER, (NUMBER,), "ABS({0})", None, "{0}.abs"),
        "n_if": Operation(NUMBER, condition, "IF({0}, {1}, {2})", None, "{0}.then({1}, {2})"),
        "n_case": Operation(NUMBER, condition, "CASE WHEN {0} THEN {1} ELSE {2} END"),
        "n_case3": Operation(
            NUMBER,
            (BOOLEAN, NUMBER, BOOLEAN, NUMBER, NUMBER),
            "CASE WHEN {0} THEN {1} WHEN {2} THEN {3} ELSE {4} END",
        ),
        "n_coalesce": Operation(NUMBER, two, "COALESCE({0}, {1})"),
        "n_coalesce3": Operation(NUMBER, (NUMBER,) * 3, "COALESCE({0}, {1}, {2})"),
        "n_ifnull": Operation(NUMBER, two, "IFNULL({0}, {1})", None, "{0}.if_null({1})"),
        "n_nullif": Operation(NUMBER, two, "NULLIF({0}, {1})"),
        "n_greatest": Operation(NUMBER, two, "GREATEST({0}, {1})"),
        "n_least": Operation(NUMBER, (NUMBER,) * 3, "LEAST({0}, {1}, {2})"),
        "n_array": Operation(NUMBER, two, "ARRAY[{0}, {1}][1]", None, "array({0}, {1}).at(1)"),
        "n_array2": Operation(NUMBER, (NUMBER,) * 3, "ARRAY[{0}, {1}, {2}][2]"),
        "n_map": Operation(NUMBER, two, "MAP['a', {0}, 'b', {1}]['b']"),
        "n_round": Operation(NUMBER, (NUMBER,), "ROUND({0}, 1)"),
        "n_truncate": Operation(NUMBER, (NUMBER,), "TRUNCATE({0}, 1)"),
        "n_ceil": Operation(NUMBER, (NUMBER,), "CEIL({0})"),
        "n_switch": Operation(STRING, two, "CASE {0} WHEN {1} THEN 'same' ELSE 'other' END"),
        "n_text": Operation(
            STRING, (NUMBER,), "CAST({0} AS STRING)", None, "{0}.cast(DataTypes.STRING())"
        ),
        "n_texts": Operation(STRING, two, "CAST(ARRAY[{0}, {1}] AS STRING)"),
        "n_type": Operation(STRING, (NUMBER,), "REPLACE(TYPEOF({0}), ' NOT NULL', '')"),
        "n_known": Operation(BOOLEAN, (NUMBER,), "({0} IS NOT NULL)", None, "{0}.is_not_null"),
        "n_in": Operation(BOOLEAN, (NUMBER,) * 3, "({0} IN ({1}, {2}))", None, "{0}.in_({1}, {2})"),
        "n_between": Operation(
            BOOLEAN, (NUMBER,) * 3, "({0} BETWEEN {1} AND {2})", None, "{0}.between({1}, {2})"
        ),
        "n_distinct": Operation(BOOLEAN, two, "({0} IS DISTINCT FROM {1})"),
        "n_contains": Operation(BOOLEAN, (NUMBER,) * 3, "ARRAY_CONTAINS(ARRAY[{0}, {1}], {2})"),
    }
    for sign in ("=", "<>", "<", "<=", ">", ">="):
        text = f"({{0}} {sign} {{1}})"
        python = text.replace("<>", "!=").replace(" = ", " == ")
        made[f"n{sign}"] = Operation(BOOLEAN, two, text, None, python)
    for kind in ("DECIMAL(5, 1)", "DECIMAL(12, 4)", "DECIMAL(20, 0)", FLOAT, DOUBLE, BIGINT):
        made[f"n of {kind}"] = Operation(NUMBER, (NUMBER,), f"TRY_CAST({{0}} AS {kind})")
    for text in ("2", "-1", "0.5", "2.00", "1.5", "19.990", "1e0", "0.25e0", "3000000000"):
        made[f"n {text}"] = Operation(NUMBER, (), text)
    return made  # fmt: skip


MIXED = _of_mixed_numbers()
"""Operations of programs that mix types of numbers; no others choose among them."""


def operation(name: str) -> Operation:
    """Return the operation of a name."""
    return MIXED[name] if name in MIXED else OPERATIONS[name]


@functools.cache
def giving(kind: str) -> tuple[str, ...]:
    """Return the names of the operations whose result is of a type."""
    return tuple(name for name, found in OPERATIONS.items() if found.result == kind)


def is_python(name: str) -> bool:
    """Return True for the operations that are Python functions."""
    return operation(name).sql.startswith(("py_", "pd_"))
