"""Flink's own functions, each in a chapter that is imported when one of its functions is used."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from pyflink_on_spark._sql.syntax.expressions import Call

CHAPTERS = {
    "aggregates": """
        COUNT, APPROX_COUNT_DISTINCT, SUM, $SUM0, AVG, MIN, MAX, FIRST_VALUE, LAST_VALUE,
        LISTAGG, COLLECT, ARRAY_AGG, $SINGLE_VALUE, SINGLE_VALUE
    """,
    "arithmetic": """
        +, -, *, /, %, MOD, UNARY -, UNARY +
    """,
    "arrays_and_maps": """
        ARRAY, ROW, MAP, ITEM, CARDINALITY, ELEMENT, ARRAY_CONTAINS, ARRAY_DISTINCT,
        ARRAY_POSITION, ARRAY_REMOVE, ARRAY_APPEND, ARRAY_PREPEND, ARRAY_REVERSE,
        ARRAY_SLICE, ARRAY_UNION, ARRAY_CONCAT, ARRAY_EXCEPT, ARRAY_INTERSECT, ARRAY_MAX,
        ARRAY_MIN, ARRAY_JOIN, ARRAY_SORT, MAP_KEYS, MAP_VALUES, MAP_ENTRIES,
        MAP_FROM_ARRAYS, MAP_UNION
    """,
    "bitmaps": """
        BITMAP_BUILD, BITMAP_CARDINALITY, BITMAP_FROM_BYTES, BITMAP_TO_ARRAY,
        BITMAP_TO_BYTES, BITMAP_TO_STRING, BITMAP_AND, BITMAP_ANDNOT, BITMAP_OR, BITMAP_XOR,
        BITMAP_BUILD_AGG, BITMAP_BUILD_CARDINALITY_AGG, BITMAP_AND_AGG,
        BITMAP_AND_CARDINALITY_AGG, BITMAP_OR_AGG, BITMAP_OR_CARDINALITY_AGG,
        BITMAP_XOR_AGG, BITMAP_XOR_CARDINALITY_AGG
    """,
    "comparison": """
        =, <>, <, >, <=, >=, BETWEEN, NOT BETWEEN, IN, NOT IN, IS DISTINCT FROM, IS NOT
        DISTINCT FROM, AND, OR, NOT, IS NULL, IS NOT NULL, IS TRUE, IS NOT TRUE, IS FALSE,
        IS NOT FALSE, IS UNKNOWN, IS NOT UNKNOWN, CASE, COALESCE, IFNULL, TYPEOF, IF,
        NULLIF, TEMPORAL_OVERLAPS
    """,
    "hashes": """
        MD5, SHA1, SHA224, SHA256, SHA384, SHA512, SHA2, ENCODE, DECODE, TO_BASE64,
        FROM_BASE64, HEX, UNHEX, BIN
    """,
    "json": """
        JSON_QUOTE, JSON_UNQUOTE, JSON_VALUE, JSON_EXISTS, JSON_QUERY, JSON_STRING, JSON,
        $JSON, JSON_OBJECT, JSON_ARRAY, IS JSON, IS NOT JSON, JSON_ARRAYAGG_NULL_ON_NULL,
        JSON_ARRAYAGG_ABSENT_ON_NULL, JSON_OBJECTAGG_NULL_ON_NULL,
        JSON_OBJECTAGG_ABSENT_ON_NULL, PARSE_JSON, TRY_PARSE_JSON
    """,
    "mathematics": """
        SIN, COS, TAN, COT, ASIN, ACOS, ATAN, SINH, COSH, TANH, DEGREES, RADIANS, SQRT, LN,
        LOG10, LOG2, EXP, ATAN2, POWER, LOG, PI, E, ABS, SIGN, ROUND, TRUNCATE, FLOOR, CEIL,
        CEILING, GREATEST, LEAST, RAND, RAND_INTEGER, UUID
    """,
    "objects": """
        OBJECT_OF, OBJECT_UPDATE
    """,
    "ranking": """
        ROW_NUMBER, RANK, DENSE_RANK, PERCENT_RANK, CUME_DIST, NTILE, LAG, LEAD
    """,
    "regular_expressions": """
        REGEXP, REGEXP_REPLACE, REGEXP_EXTRACT, REGEXP_EXTRACT_ALL, REGEXP_COUNT,
        REGEXP_INSTR, REGEXP_SUBSTR, SIMILAR TO, NOT SIMILAR TO, STR_TO_MAP
    """,
    "statistics": """
        STDDEV_POP, STDDEV_SAMP, STDDEV, VAR_POP, VAR_SAMP, VARIANCE, PERCENTILE
    """,
    "strings": """
        ||, UPPER, UCASE, LOWER, LCASE, CHAR_LENGTH, CHARACTER_LENGTH, CONCAT, CONCAT_WS,
        TRIM, LTRIM, RTRIM, BTRIM, SUBSTRING, SUBSTR, LEFT, RIGHT, LPAD, RPAD, REPEAT,
        REVERSE, INITCAP, REPLACE, POSITION, LOCATE, INSTR, SPLIT, SPLIT_INDEX,
        OVERLAY, ASCII, CHR, TRANSLATE, TRANSLATE3, STARTSWITH, ENDSWITH, URL_ENCODE,
        URL_DECODE, PARSE_URL, IS_ALPHA, IS_DIGIT, IS_DECIMAL, ELT, PRINTF, LIKE,
        NOT LIKE, INET_ATON, INET_NTOA
    """,
    "times": """
        PROCTIME, CURRENT_TIMESTAMP, NOW, CURRENT_ROW_TIMESTAMP, LOCALTIMESTAMP,
        CURRENT_DATE, CURRENT_TIME, LOCALTIME, EXTRACT, YEAR, QUARTER, MONTH, WEEK,
        DAYOFYEAR, DAYOFMONTH, DAYOFWEEK, HOUR, MINUTE, SECOND, DATE_FORMAT, TO_DATE,
        TO_TIMESTAMP, TO_TIMESTAMP_LTZ, UNIX_TIMESTAMP, FROM_UNIXTIME, CONVERT_TZ,
        TIMESTAMPADD, TIMESTAMPDIFF, MINUS_DATE, CURRENT_WATERMARK
    """,
}
"""The modules of ``functions.builtin``, and the names of the functions in their ``FUNCTIONS``."""


class BuiltinFunctions:
    """Flink's own functions by name in capitals."""

    def __init__(self) -> None:
        self._chapters = {
            name: chapter
            for chapter, names in CHAPTERS.items()
            for name in " ".join(names.split()).split(", ")
        }
        self._loaded: dict[str, object] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            chapter = self._chapters[name]
            module = importlib.import_module(f"pyflink_on_spark._sql.functions.builtin.{chapter}")
            self._loaded.update(
                (known, function)
                for function in module.FUNCTIONS
                for known in (function.name, *function.aliases)
            )
        return self._loaded[name]

    def find(self, name: str) -> Any:
        """Return the function of a name in any case, or None."""
        name = name.upper()
        return self[name] if name in self._chapters else None

    def names(self) -> list[str]:
        """Return the names of all functions that are no operators."""
        return [name for name in self._chapters if name[0].isalpha()]


@lru_cache(maxsize=1)
def builtin_functions() -> BuiltinFunctions:
    """Return Flink's own functions."""
    return BuiltinFunctions()


_OF_TABLE_API = {
    "plus": "+",
    "minus": "-",
    "times": "*",
    "divide": "/",
    "equals": "=",
    "notEquals": "<>",
    "lessThan": "<",
    "greaterThan": ">",
    "lessThanOrEqual": "<=",
    "greaterThanOrEqual": ">=",
    "minusPrefix": "UNARY -",
    "ifThenElse": "IF",
    "sum0": "$SUM0",
}


def function_of_call(call: Call, find: Callable[[str], object]) -> object:
    """The function of a call, or None; ``charLength`` of the Table API is CHAR_LENGTH of SQL.

    Args:
        call: the call.
        find: gives the function of a name, or None.
    """
    found = call.function or find(call.name)
    if found is None and call.span is None:
        words = re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", call.name).upper()
        found = find(_OF_TABLE_API.get(call.name, words))
    return found
