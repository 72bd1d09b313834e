"""SQL as Flink shows expressions: names in back-ticks, one blank between words."""

from __future__ import annotations

from pyflink_on_spark._sql.parser.keywords import RESERVED
from pyflink_on_spark._sql.parser.tokens import Kind, Token, tokenize

_TIGHT_BEFORE = {")", "]", ",", "."}
_TIGHT_AFTER = {"(", "[", "."}


def canonical_text(text: str) -> str:
    """Return an expression as Flink shows it: ``ts - interval '1' second`` with ``` `ts` ```.

    Args:
        text: an expression that the parser can read.
    """
    tokens = tokenize(text)[:-1]
    written = ""
    before: Token | None = None
    for token, after in zip(tokens, [*tokens[1:], None]):
        if before is not None and not _is_tight(before, token):
            written += " "
        written += _written(token, after)
        before = token
    return written


def _is_tight(before: Token, token: Token) -> bool:
    if token.upper == "(":
        return before.kind is Kind.WORD and before.upper not in {"AND", "OR", "NOT", "IN", "AS"}
    if token.upper == "[":
        return True
    return token.upper in _TIGHT_BEFORE or before.upper in _TIGHT_AFTER


def _written(token: Token, after: Token | None) -> str:
    if token.kind is Kind.QUOTED:
        return f"`{token.text.replace('`', '``')}`"
    if token.kind is Kind.WORD:
        called = after is not None and after.upper == "("
        return token.upper if called or token.upper in RESERVED else f"`{token.text}`"
    return str(token.span)
