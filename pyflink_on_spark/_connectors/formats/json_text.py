"""Writes JSON as Jackson does."""

from __future__ import annotations

import re
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any

from pyflink_on_spark._runtime.types.java_numbers import double_text

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_ESCAPES: dict[int, str] = {code: f"\\u{code:04X}" for code in range(0x20)} | {
    ord(character): escape
    for character, escape in zip(
        '"\\\n\r\t\b\f', ('\\"', "\\\\", "\\n", "\\r", "\\t", "\\b", "\\f")
    )
}


def string_text(text: str) -> str:
    """Return a text with quotes."""
    written: str = encode_basestring(text)
    if "\\u" in written:
        return f'"{text.translate(_ESCAPES)}"'
    return written


def string_bytes_text(text: str) -> str:
    """Return a text with quotes for encoding; a character beyond U+FFFF becomes two escapes."""
    written = string_text(text)
    return written if written.isascii() else _ASTRAL.sub(_surrogates, written)


def scalar_text(node: Any) -> str:
    """Return the text of a scalar value, without quotes; an empty text for a container."""
    if isinstance(node, str):
        return node
    if isinstance(node, (list, dict)):
        return ""
    return node_text(node)


def node_text(node: Any) -> str:
    """Return the text of a parsed value."""
    if isinstance(node, str):
        return string_text(node)
    if node is None:
        return "null"
    if isinstance(node, bool):
        return "true" if node else "false"
    if isinstance(node, float):
        return double_text(node)
    if isinstance(node, (int, Decimal)):
        return str(node)
    if isinstance(node, list):
        return f"[{','.join(map(node_text, node))}]"
    items = (f"{string_text(key)}:{node_text(value)}" for key, value in node.items())
    return f"{{{','.join(items)}}}"


def _surrogates(match: re.Match[str]) -> str:
    code = ord(match.group()) - 0x10000
    return f"\\u{0xD800 + (code >> 10):04X}\\u{0xDC00 + (code & 0x3FF):04X}"
