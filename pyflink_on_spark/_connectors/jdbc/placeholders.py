"""Replaces JDBC's question marks with the placeholders of a driver."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Lexicon:
    """The tokens of a database's SQL in which a question mark is only text.

    Args:
        pieces: regular expressions of strings, quoted names and comments.
        nested_comments: whether comments may contain comments.
        doubled_mark: whether ``??`` stands for the operator ``?``.
    """

    pieces: tuple[str, ...]
    nested_comments: bool = False
    doubled_mark: bool = False


_STRING = r"'(?:[^']|'')*'"
_STRING_WITH_ESCAPES = r"'(?:[^'\\]|\\.|'')*'"
_DOUBLE_QUOTED = r'"(?:[^"]|"")*"'
_DOUBLE_QUOTED_WITH_ESCAPES = r'"(?:[^"\\]|\\.|"")*"'
_BACK_QUOTED = r"`(?:[^`]|``)*`"
_BRACKETS = r"\[[^\]]*\]"
_LINE_COMMENT = r"--[^\n]*"
_COMMENT = r"/\*.*?\*/"

POSTGRESQL = Lexicon(
    (
        r"(?<![\w$])[eE]" + _STRING_WITH_ESCAPES,
        _STRING,
        _DOUBLE_QUOTED,
        r"(?<![\w$])\$(?P<tag>(?:[^\W\d]\w*)?)\$.*?\$(?P=tag)\$",
        _LINE_COMMENT,
    ),
    nested_comments=True,
    doubled_mark=True,
)
MYSQL = Lexicon(
    (
        _STRING_WITH_ESCAPES,
        _DOUBLE_QUOTED_WITH_ESCAPES,
        _BACK_QUOTED,
        r"--(?=[\s\x00-\x1f]|$)[^\n]*",
        r"\#[^\n]*",
        _COMMENT,
    )
)
SQLITE = Lexicon((_STRING, _DOUBLE_QUOTED, _BACK_QUOTED, _BRACKETS, _LINE_COMMENT, _COMMENT))

_COMMENT_MARK = re.compile(r"/\*|\*/")


def translate(sql: str, lexicon: Lexicon, placeholder: str) -> tuple[str, int]:
    """Return a statement with the placeholders of a driver, and the number of its parameters.

    Args:
        sql: a statement with ``?`` for each parameter.
        lexicon: the lexicon of the database.
        placeholder: ``?`` or ``%s``. With ``%s`` all other percent signs are doubled.

    Raises:
        ValueError: a string, a quoted name or a comment does not end.
    """
    parts: list[str] = []
    count = 0
    for piece in _pieces(sql, lexicon):
        if piece == "?":
            parts.append(placeholder)
            count += 1
        else:
            text = "?" if piece == "??" else piece
            parts.append(text.replace("%", "%%") if placeholder == "%s" else text)
    return "".join(parts), count


def _pieces(sql: str, lexicon: Lexicon) -> Iterator[str]:
    whole = re.compile("|".join(lexicon.pieces), re.DOTALL)
    plain = re.compile(r"""[^?'"`\[$/#eE-]+""")
    position = 0
    while position < len(sql):
        found = whole.match(sql, position) or plain.match(sql, position)
        if found is not None:
            end = found.end()
        elif lexicon.nested_comments and sql.startswith("/*", position):
            end = _end_of_nested_comment(sql, position)
        elif lexicon.doubled_mark and sql.startswith("??", position):
            end = position + 2
        else:
            _check_start(sql, position, lexicon)
            end = position + 1
        yield sql[position:end]
        position = end


def _end_of_nested_comment(sql: str, start: int) -> int:
    depth = 0
    for mark in _COMMENT_MARK.finditer(sql, start):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    raise _unterminated("comment", sql, start)


def _check_start(sql: str, position: int, lexicon: Lexicon) -> None:
    """Raise ValueError if a string or a comment begins here: it would have matched if it ended."""
    if sql.startswith("/*", position):
        raise _unterminated("comment", sql, position)
    quotes = "'\"" + ("`" if _BACK_QUOTED in lexicon.pieces else "")
    if sql[position] in quotes:
        raise _unterminated("quotation", sql, position)


def _unterminated(what: str, sql: str, position: int) -> ValueError:
    return ValueError(f"a {what} in the statement does not end: {sql[position : position + 60]}")
