"""Reads and writes JSON of any text: one that is nested too deeply is an error of the text."""

from __future__ import annotations

import json
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


def compact_json(value: object) -> str:
    """Write JSON without spaces.

    Raises:
        ValueError: the value is nested too deeply.
    """
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise too_deep() from None


def too_deep() -> ValueError:
    """Return the error for JSON that has too many levels."""
    return ValueError("the JSON is nested too deeply")
