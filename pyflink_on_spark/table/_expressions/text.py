"""Expressions as texts, in the words of Flink's functions."""

from __future__ import annotations

from pyflink_on_spark._sql.depth import at_any_depth
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.text import sql_text

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
    "CHAR_LENGTH": "charLength",
}


@at_any_depth
def expression_text(written: syntax.Expression) -> str:
    """Return the text of an expression, ``plus(a, 1)`` for example."""
    if isinstance(written, syntax.Name):
        return ".".join(written.parts)
    if isinstance(written, syntax.Literal):
        return _literal_text(written)
    if isinstance(written, syntax.Alias):
        names = ", ".join(f"'{name}'" for name in written.names)
        return f"as({expression_text(written.operand)}, {names})"
    if isinstance(written, syntax.Cast):
        word = "TRY_CAST" if written.lenient else "cast"
        return f"{word}({expression_text(written.operand)}, {written.type})"
    if isinstance(written, syntax.Call):
        args = ", ".join(map(expression_text, written.args))
        return f"{_word(written.name)}({args})"
    return "*" if isinstance(written, syntax.Star) else str(written)


def _word(name: str) -> str:
    known = _WORDS.get(name)
    if known is not None:
        return known
    first, *rest = name.replace("_", " ").lower().split()
    return first + "".join(word.capitalize() for word in rest)


def _literal_text(literal: syntax.Literal) -> str:
    if literal.value is None:
        return "null"
    if isinstance(literal.value, bool):
        return "true" if literal.value else "false"
    text = sql_text(literal.type)(literal.value)
    return f"'{text}'" if literal.type.root in logical.CHARACTERS else text
