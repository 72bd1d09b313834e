"""Reads and writes JSON of any text: one that is nested too deeply is an error of the text."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any


def read_json(text: str, **hooks: Any) -> object:
    """Read JSON.

    Args:
        text: the JSON.
        hooks: those of ``json.loads``.

    Raises:
        ValueError: the text is no JSON, or is nested too deeply.
    """
    try:
        return json.loads(text, **hooks)
    except RecursionError:
        raise too_deep() from None


def read_exactly(text: str) -> object:
    """Read JSON whose fractions become Decimals, as many digits as they may have.

    Raises:
        ValueError: the text is no JSON, or is nested too deeply.
    """
    return read_json(text, parse_float=_fraction)


def _fraction(text: str) -> Decimal:
    found = Decimal(text)
    return found or found.copy_abs()  # Java's decimals have no negative zero


def compact_json(value: object) -> str:
    """Write JSON without spaces, with Decimals as Java's have their text.

    Raises:
        ValueError: the value is nested too deeply.
    """
    try:
        return _compact(value)
    except RecursionError:
        raise too_deep() from None


def _compact(value: object) -> str:
    if isinstance(value, dict):
        pairs = (f"{_compact(key)}:{_compact(item)}" for key, item in value.items())
        return f"{{{','.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{','.join(map(_compact, value))}]"
    return str(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)


def too_deep() -> ValueError:
    """Return the error for JSON that has too many levels."""
    return ValueError("the JSON is nested too deeply")
