"""The gist of an error's Java text, in a few lines."""

from __future__ import annotations

import re

_FRAME = re.compile(r"\s+(?:at |\.\.\. \d+ more)")
_CALLING = re.compile(r"An error occurred while calling \S+\s*$")
_LONGEST, _MOST_LINES = 1000, 8


def gist(text: str) -> str:
    """Return the first lines of an error's text, without Java's stack traces."""
    lines = [line.removeprefix(": ") for line in text.splitlines() if _says_something(line)]
    first = "\n".join(lines[:_MOST_LINES])
    return first if first == "\n".join(lines) and len(first) <= _LONGEST else _cut(first)


def _says_something(line: str) -> bool:
    return bool(line.strip()) and _FRAME.match(line) is None and _CALLING.match(line) is None


def _cut(text: str) -> str:
    return f"{text[:_LONGEST]} ..."
