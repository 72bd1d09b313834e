"""The texts of expressions, as ``str`` shows them: ``plus(a, 1)`` for example."""

from __future__ import annotations

from collections.abc import Callable

from pyflink_on_spark._sql.errors import at_any_depth
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import Root
from pyflink_on_spark._sql.types.text import sql_text

FLAT = ("FLAT",)

_WORDS = {
    "+": "plus",
    "-": "minus",
    "*": "times",
    "/": "divide",
    "%": "mod",
    "=": "equals",
    "<>": "notEquals",
    "<": "lessThan",
    ">": "greaterThan",
    "<=": "lessThanOrEqual",
    ">=": "greaterThanOrEqual",
    "UNARY -": "minusPrefix",
    "IF": "ifThenElse",
    "DOT": "get",
    "ITEM": "at",
    "$SUM0": "sum0",
    "CHAR_LENGTH": "charLength",
    "CONCAT_WS": "concat_ws",
    "FIRST_VALUE": "first_value",
    "LAST_VALUE": "last_value",
    "LISTAGG": "listAgg",
    "LOCALTIME": "localTime",
    "LOCALTIMESTAMP": "localTimestamp",
    "OVERLAPS": "temporalOverlaps",
    "SIMILAR TO": "similar",
    "TIMESTAMPDIFF": "timestampDiff",
    "TRANSLATE": "TRANSLATE3",
    "IS JSON": "IS_JSON",
}
# Flink calls its newer functions as SQL does.
_AS_IN_SQL = frozenset({
    "BTRIM", "COALESCE", "CURRENT_WATERMARK", "ELT", "ENDSWITH", "IFNULL", "INET_ATON", "INET_NTOA",
    "JSON_EXISTS", "JSON_QUERY", "JSON_QUOTE", "JSON_STRING", "JSON_UNQUOTE", "JSON_VALUE", "LIKE",
    "PERCENTILE", "PRINTF", "REGEXP_COUNT", "REGEXP_EXTRACT_ALL", "REGEXP_INSTR", "REGEXP_SUBSTR",
    "SOURCE_WATERMARK", "SPLIT", "STARTSWITH", "TO_TIMESTAMP_LTZ", "URL_DECODE", "URL_ENCODE",
})  # fmt: skip
_FAMILIES = ("ARRAY_", "BITMAP_", "JSON_ARRAYAGG_", "JSON_OBJECTAGG_", "MAP_")
_SYMBOL_FIRST = frozenset({"EXTRACT", "TIMESTAMPDIFF"})
_SYMBOL_LAST = frozenset({"FLOOR", "CEIL", "JSON_EXISTS"})


@at_any_depth
def expression_text(written: syntax.Expression) -> str:
    """The text of an expression of the Table API; SQL in brackets stands as it was written."""
    if written.span is not None:
        return f"[{written.span.text}]"
    describe = _KINDS.get(type(written))
    return str(written) if describe is None else describe(written)


def _alias(written: syntax.Alias) -> str:
    operand = expression_text(written.operand)
    if not written.names:
        return f"flatten({operand})"
    names = ", ".join(f"'{name}'" for name in written.names)
    return f"as({operand}, {names})"


def _cast(written: syntax.Cast) -> str:
    word = "TRY_CAST" if written.lenient else "cast"
    return f"{word}({expression_text(written.operand)}, {written.type})"


def _aggregate(written: syntax.AggregateCall) -> str:
    text = expression_text(written.call)
    return f"distinct({text})" if written.distinct else text


def _over(written: syntax.OverCall) -> str:
    return f"over({expression_text(written.call)}, {written.window})"


def _literal(literal: syntax.Literal) -> str:
    if literal.value is None:
        return "null"
    if isinstance(literal.value, bool):
        return "true" if literal.value else "false"
    if literal.type.root is Root.INTERVAL_SECOND:
        return str(int(literal.value / 1000))
    if literal.type.root is Root.INTERVAL_MONTH:
        return str(literal.value)
    text = sql_text(literal.type)(literal.value)
    if literal.type.root not in logical.CHARACTERS:
        return text
    return "'" + text.replace("'", "''") + "'"


def _call(written: syntax.Call) -> str:
    special = _CALLS.get(written.name)
    if special is not None:
        return special(written)
    return f"{_word(written.name)}({', '.join(_arguments(written))})"


def _word(name: str) -> str:
    if name in _WORDS:
        return _WORDS[name]
    if name in _AS_IN_SQL or name.startswith(_FAMILIES):
        return name
    first, *rest = name.replace("_", " ").lower().split()
    return first + "".join(word.capitalize() for word in rest)


def _arguments(written: syntax.Call) -> list[str]:
    texts = list(map(expression_text, written.args))
    if written.symbols == FLAT:
        texts = [*_arguments(written.args[0]), texts[1]]  # type: ignore[arg-type]
    if written.name in _SYMBOL_FIRST:
        return [*written.symbols, *texts]
    if written.name in _SYMBOL_LAST:
        return [*texts, *written.symbols]
    return texts


def _trimmed(written: syntax.Call) -> str:
    text, character = _arguments(written)
    (symbol,) = written.symbols
    begin, end = (str(symbol != other).lower() for other in ("TRAILING", "LEADING"))
    return f"trim({begin}, {end}, {character}, {text})"


def _range(written: syntax.Call) -> str:
    ends = [str(end.value) for end in written.args if isinstance(end, syntax.Literal)]
    return f"rangeTo({', '.join(ends)})"


def _json_value(written: syntax.Call) -> str:
    text, path, *defaults = _arguments(written)
    kind, *behaviours = written.symbols
    rest = [word for each in behaviours
            for word in (each, defaults.pop(0) if each == "DEFAULT" else "null")]  # fmt: skip
    shown = {"INTEGER": "INT"}.get(kind, kind)
    return f"JSON_VALUE({', '.join([text, path, shown, *rest])})"


def _json_query(written: syntax.Call) -> str:
    wrapper = {"WITHOUT": "WITHOUT_ARRAY", "CONDITIONAL": "CONDITIONAL_ARRAY"}
    symbol, *behaviours = written.symbols
    shown = wrapper.get(symbol, "UNCONDITIONAL_ARRAY")
    rest = [shown, *(each.replace(" ", "_") for each in behaviours)]
    return f"JSON_QUERY({', '.join([*_arguments(written), 'STRING', *rest])})"


def _json_exists(written: syntax.Call) -> str:
    return f"JSON_EXISTS({', '.join([*_arguments(written), *written.symbols])})"


def _is_json(written: syntax.Call) -> str:
    symbols = [] if written.symbols == ("VALUE",) else list(written.symbols)
    return f"IS_JSON({', '.join([*_arguments(written), *symbols])})"


def _json_aggregate(written: syntax.Call) -> str:
    values = [arg.args[0] if isinstance(arg, syntax.Call) and arg.name == "JSON_STRING" else arg
              for arg in written.args]  # fmt: skip
    return f"{written.name}({', '.join(map(expression_text, values))})"


_KINDS: dict[type, Callable[..., str]] = {
    syntax.Name: lambda written: ".".join(written.parts),
    syntax.Literal: _literal,
    syntax.Alias: _alias,
    syntax.Cast: _cast,
    syntax.Call: _call,
    syntax.AggregateCall: _aggregate,
    syntax.OverCall: _over,
    syntax.Star: lambda written: "*",
}
_CALLS: dict[str, Callable[[syntax.Call], str]] = {
    "TRIM": _trimmed,
    "RANGE": _range,
    "ROW_INTERVAL": lambda written: _arguments(written)[0],
    "UNBOUNDED_ROW": lambda written: written.name,
    "UNBOUNDED_RANGE": lambda written: written.name,
    "CURRENT_ROW": lambda written: written.name,
    "CURRENT_RANGE": lambda written: written.name,
    "JSON_VALUE": _json_value,
    "JSON_QUERY": _json_query,
    "JSON_EXISTS": _json_exists,
    "IS JSON": _is_json,
    **{
        f"JSON_{what}_{nulls}_ON_NULL": _json_aggregate
        for what in ("OBJECTAGG", "ARRAYAGG")
        for nulls in ("NULL", "ABSENT")
    },
}
