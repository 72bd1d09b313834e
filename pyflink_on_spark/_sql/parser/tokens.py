"""Cuts a SQL text into tokens."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

from pyflink_on_spark._sql.errors import Span, SqlParseError


class Kind(enum.Enum):
    """Kinds of tokens."""

    WORD = "word"
    QUOTED = "quoted name"
    STRING = "string"
    BYTES = "binary string"
    UNICODE = "string with escapes"
    INTEGER = "integer"
    DECIMAL = "decimal"
    DOUBLE = "double"
    SYMBOL = "symbol"
    HINT = "hint"
    END = "end"


@dataclass(frozen=True, slots=True)
class Token:
    """A token.

    Args:
        kind: what it is.
        text: as it is written; of a quoted name or a string what is inside the quotes.
        span: where it is.
        upper: the text in capitals if it is a word or a symbol, else nothing.
    """

    kind: Kind
    text: str
    span: Span
    upper: str = ""


_TOKEN = re.compile(
    r"""
    (?P<blank>\s+|--[^\n]*|//[^\n]*|/\*(?!\+).*?\*/)
  | (?P<hint>/\*\+.*?\*/)
  | (?P<bytes>[xX]'(?:[^']|'')*')
  | (?P<unicode>[uU]&'(?:[^']|'')*')
  | (?P<string>'(?:[^']|'')*')
  | (?P<double>(?:\d+(?:\.\d*)?|\.\d+)[eE][+-]?\d+)
  | (?P<decimal>\d+\.\d*|\.\d+)
  | (?P<integer>\d+)
  | (?P<word>[^\W\d][\w$]*)
  | (?P<quoted>`(?:[^`]|``)*`)
  | (?P<symbol><>|!=|<=|>=|\|\||=>|->|[-+*/%=<>()\[\]{},.;:?])
    """,
    re.VERBOSE | re.DOTALL,
)
_PLAIN = {
    "double": Kind.DOUBLE,
    "decimal": Kind.DECIMAL,
    "integer": Kind.INTEGER,
}


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a text, and one for its end.

    Raises:
        SqlParseError: a character belongs to no token.
    """
    tokens: list[Token] = []
    index, length = 0, len(text)
    while index < length:
        match = _TOKEN.match(text, index)
        if match is None or (match.group() == "/" and text.startswith("/*", index)):
            raise _lexical_error(text, index)
        if match.lastgroup != "blank":
            tokens.append(_token(match, text))
        index = match.end()
    end = tokens[-1].span.end if tokens else 0
    tokens.append(Token(Kind.END, "<EOF>", Span(text, max(end - 1, 0), max(end, 1))))
    return tokens


def _token(match: re.Match[str], text: str) -> Token:
    group, written = match.lastgroup, match.group()
    span = Span(text, match.start(), match.end())
    if group == "word":
        return Token(Kind.WORD, written, span, written.upper())
    if group == "symbol":
        return Token(Kind.SYMBOL, written, span, written)
    if group == "string":
        return Token(Kind.STRING, written[1:-1].replace("''", "'"), span)
    if group == "unicode":
        return Token(Kind.UNICODE, written[3:-1].replace("''", "'"), span)
    if group == "quoted":
        return Token(Kind.QUOTED, written[1:-1].replace("``", "`"), span)
    if group == "bytes":
        return Token(Kind.BYTES, written[2:-1], span)
    if group == "hint":
        return Token(Kind.HINT, written[3:-2], span)
    assert group is not None
    return Token(_PLAIN[group], written, span)


def _lexical_error(text: str, index: int) -> SqlParseError:
    span, character = Span(text, index, index + 1), text[index]
    if character in "'`" or text.startswith("/*", index):
        opened = "/*" if character == "/" else character
        return SqlParseError(
            f'SQL parse failed. Encountered "{opened}" at {span.place()}. '
            "What begins there has no end"
        )
    return SqlParseError(
        f"SQL parse failed. Lexical error at {span.place()}.  "
        f'Encountered: "{character}" ({ord(character)})'
    )
