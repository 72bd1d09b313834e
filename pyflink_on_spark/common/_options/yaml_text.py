"""The small part of YAML in which options hold lists and maps: one line, or one entry a line."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

_FLOW_ENDS = ",[]{}"
_UNSAFE_START = re.compile(r"[\s!&*%@`'\"#|>,\[\]{}?:]|-(\s|$)|---|\.\.\.|$")
_UNSAFE_INSIDE = re.compile(r"[,\[\]{}:]|\s#|\s$")
_NOT_A_STRING = re.compile(
    r"~|null|Null|NULL|true|True|TRUE|false|False|FALSE|0x[0-9a-fA-F]+|0o[0-7]+"
    r"|[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
    r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
)
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")


def yaml_text(value: Any) -> str:
    """Write a string, list, map or bytes on one line, so that it is read as the same again."""
    if isinstance(value, Mapping):
        entries = (f"{yaml_text(key)}: {yaml_text(item)}" for key, item in value.items())
        return "{" + ", ".join(entries) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(yaml_text(item) for item in value) + "]"
    if isinstance(value, bytes | bytearray):
        return f"!!binary |-\n  {base64.b64encode(value).decode()}" if value else '!!binary ""'
    return _string_text(value) if isinstance(value, str) else str(value)


def _string_text(text: str) -> str:
    if _UNPRINTABLE.search(text):
        return json.dumps(text)
    plain = not (
        _UNSAFE_START.match(text) or _UNSAFE_INSIDE.search(text) or _NOT_A_STRING.fullmatch(text)
    )
    return text if plain else "'" + text.replace("'", "''") + "'"


def resolve_scalar(text: str) -> Any:
    """Return what an unquoted scalar stands for: None, a bool, a number, or the text itself."""
    if not _NOT_A_STRING.fullmatch(text):
        return text
    lower = text.lower()
    if lower in {"~", "null"}:
        return None
    if lower in {"true", "false"}:
        return lower == "true"
    if lower.startswith(("0x", "0o")):
        return int(lower, 0)
    if re.fullmatch(r"[-+]?[0-9]+", text):
        return int(text)
    return float(lower.replace(".inf", "inf").replace(".nan", "nan"))


def parse_yaml(text: str, scalar: Callable[[str], Any] = str) -> Any:
    """Read a list or a map; anything else comes back as a text.

    Args:
        text: one line, or one entry a line.
        scalar: what makes a value of an unquoted text.

    Raises:
        ValueError: a bracket or a quote is not closed, or something follows the end.
    """
    stripped = text.strip()
    if stripped.startswith(("[", "{", '"', "'")):
        reader = _Reader(stripped, scalar)
        value = reader.value()
        reader.end()
        return value
    lines = [line.strip() for line in stripped.splitlines() if line.strip()]
    if lines and all(line.startswith("- ") for line in lines):
        return [parse_yaml_item(line[2:], scalar) for line in lines]
    if lines and all(re.search(r":(\s|$)", line) for line in lines):
        return dict(_entry(line, scalar) for line in lines)
    return stripped


def parse_yaml_item(text: str, scalar: Callable[[str], Any]) -> Any:
    """Read one entry: a bracketed or quoted value, or an unquoted text."""
    text = text.strip()
    if not text:
        raise ValueError("an entry without a value")
    return parse_yaml(text, scalar) if text[:1] in tuple("[{\"'") else scalar(text)


def _entry(line: str, scalar: Callable[[str], Any]) -> tuple[Any, Any]:
    reader = _Reader(line, scalar)
    key = reader.value()
    reader.take(":")
    return key, parse_yaml_item(line[reader.position :], scalar)


class _Reader:
    """Reads bracketed lists and maps from left to right."""

    def __init__(self, text: str, scalar: Callable[[str], Any]) -> None:
        self.text = text
        self.scalar = scalar
        self.position = 0

    def value(self) -> Any:
        char = self._peek()
        if char == "[":
            return self._sequence()
        if char == "{":
            return self._mapping()
        if char and char in "\"'":
            return self._quoted(char)
        return self._plain()

    def end(self) -> None:
        if self._peek():
            raise self._error("nothing more")

    def take(self, char: str) -> None:
        if self._peek() != char:
            raise self._error(repr(char))
        self.position += 1

    def _peek(self) -> str:
        while self.position < len(self.text) and self.text[self.position].isspace():
            self.position += 1
        return self.text[self.position : self.position + 1]

    def _error(self, expected: str) -> ValueError:
        return ValueError(f"{self.text!r}: expected {expected} at position {self.position}")

    def _sequence(self) -> list[Any]:
        self.take("[")
        items: list[Any] = []
        while self._peek() != "]":
            item = self.value()
            if self._peek() == ":":
                self.take(":")
                item = {item: self.value()}
            items.append(item)
            if self._peek() != "]":
                self.take(",")
        self.take("]")
        return items

    def _mapping(self) -> dict[Any, Any]:
        self.take("{")
        entries: dict[Any, Any] = {}
        while self._peek() != "}":
            key = self.value()
            self.take(":")
            entries[key] = self.value()
            if self._peek() != "}":
                self.take(",")
        self.take("}")
        return entries

    def _quoted(self, quote: str) -> str:
        pattern = r"'((?:[^']|'')*)'" if quote == "'" else r'"(?:[^"\\]|\\.)*"'
        found = re.compile(pattern).match(self.text, self.position)
        if found is None:
            raise self._error(f"the closing {quote}")
        self.position = found.end()
        return found[1].replace("''", "'") if quote == "'" else str(json.loads(found[0]))

    def _plain(self) -> Any:
        start = self.position
        while self.position < len(self.text):
            char = self.text[self.position]
            after = self.text[self.position + 1 : self.position + 2]
            if char in _FLOW_ENDS or (char == ":" and (after in _FLOW_ENDS or after.isspace())):
                break
            self.position += 1
        text = self.text[start : self.position].strip()
        if not text:
            raise self._error("a value")
        return self.scalar(text)
