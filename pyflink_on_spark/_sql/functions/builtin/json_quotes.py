"""Texts as strings of JSON, and back."""

from __future__ import annotations

import re

from pyflink_on_spark._sql.functions.parameters import always, calling, characters
from pyflink_on_spark._sql.plan.signatures import Overload, ScalarFunction
from pyflink_on_spark._sql.types import logical

_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ESCAPED = {character: f"\\{letter}" for letter, character in _ESCAPES.items()}
_TO_ESCAPE = re.compile(r'["\\/\x08\f\n\r\t]|[^\x00-\x7f]')
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_WELL_FORMED = re.compile(r'(?:[^\\]|\\u[0-9a-fA-F]{4}|\\["\\/bfnrt])*', re.DOTALL)


def json_quote(text: str) -> str:
    """Return a text as a string of JSON in ASCII."""
    return f'"{_TO_ESCAPE.sub(_escaped, text)}"'


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    if character in _ESCAPED:
        return _ESCAPED[character]
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[n : n + 2].hex()}" for n in range(0, len(units), 2))


def json_unquote(text: str) -> str:
    """Return the text that a string of JSON stands for; what is no such string stays as it is."""
    inner = text[1:-1]
    if len(text) < 2 or text[0] != '"' or text[-1] != '"' or not _WELL_FORMED.fullmatch(inner):
        return text
    plain = _ESCAPE.sub(_plain, inner)
    return plain.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "replace")


def _plain(match: re.Match[str]) -> str:
    code, letter = match.groups()
    return _ESCAPES[letter] if code is None else chr(int(code, 16))


FUNCTIONS = tuple(
    ScalarFunction(name, (Overload((characters,), always(logical.STRING), calling(function)),))
    for name, function in (("JSON_QUOTE", json_quote), ("JSON_UNQUOTE", json_unquote))
)
