"""Regular expressions and LIKE."""

from __future__ import annotations

import re
from functools import lru_cache

_CLASSES = {
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Upper": "A-Z",
    "Lower": "a-z",
    "Punct": r"!-/:-@\[-`{-~",
}
_JAVA_GROUP = re.compile(r"\\(.)|\$(\d)|\$\{(\w+)\}")


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> re.Pattern[str] | None:
    """Return a regular expression of Java, or None if it is malformed."""
    try:
        return re.compile(_python(pattern))
    except re.error:
        return None


def _python(pattern: str) -> str:
    """Return Java's syntax as Python's, where both differ."""
    pattern = re.sub(r"\(\?<(?![=!])", "(?P<", pattern)
    for java, python in _CLASSES.items():
        pattern = pattern.replace(rf"\p{{{java}}}", f"[{python}]")
    return pattern


def _replacement(text: str) -> str:
    def group(match: re.Match[str]) -> str:
        if match[1] is not None:
            return "\\\\" if match[1] == "\\" else match[1]
        return rf"\g<{match[2] or match[3]}>"

    parts = []
    position = 0
    for match in _JAVA_GROUP.finditer(text):
        parts += [text[position : match.start()].replace("\\", "\\\\"), group(match)]
        position = match.end()
    parts.append(text[position:].replace("\\", "\\\\"))
    return "".join(parts)


def regexp_replace(text: str, pattern: str, replacement: str) -> str | None:
    """Replace all that matches."""
    found = compiled(pattern)
    try:
        return None if found is None else found.sub(_replacement(replacement), text)
    except (re.error, IndexError):
        return None


def regexp_extract(text: str, pattern: str, group: int = 0) -> str | None:
    """Return a group of the first match."""
    compiled_pattern = compiled(pattern)
    found = None if compiled_pattern is None else compiled_pattern.search(text)
    if found is None or not 0 <= group <= len(found.groups()):
        return None
    return found[group]


def regexp_extract_all(text: str, pattern: str, group: int = 1) -> tuple[str, ...] | None:
    """Return a group of all matches."""
    found = compiled(pattern)
    if found is None or not 0 <= group <= found.groups:
        return None
    return tuple([match[group] for match in found.finditer(text)])


def regexp(text: str, pattern: str) -> bool:
    """Tell whether something in a text matches."""
    found = compiled(pattern)
    return found is not None and bool(pattern) and found.search(text) is not None


def regexp_count(text: str, pattern: str) -> int | None:
    """Return how often a pattern matches."""
    found = compiled(pattern)
    return None if found is None else sum(1 for _ in found.finditer(text))


def regexp_position(text: str, pattern: str) -> int | None:
    """Return where the first match begins, counted from 1; 0 if there is none."""
    compiled_pattern = compiled(pattern)
    if compiled_pattern is None:
        return None
    found = compiled_pattern.search(text)
    return 0 if found is None else found.start() + 1


def regexp_part(text: str, pattern: str) -> str | None:
    """Return the first match."""
    return regexp_extract(text, pattern)


@lru_cache(maxsize=1024)
def like_pattern(pattern: str, escape: str | None = None) -> re.Pattern[str]:
    """Return the regular expression of a pattern of LIKE.

    What stands between two ``%`` is found where it comes first, and is not looked for again
    further on, so that no pattern takes exponential time.

    Raises:
        ValueError: the escape character is not before %, _ or itself.
    """
    pieces = [""]
    letters = iter(pattern)
    for letter in letters:
        if letter == escape:
            following = next(letters, "")
            if following not in {"%", "_", escape}:
                raise ValueError(f"Invalid escape sequence '{pattern}'")
            pieces[-1] += re.escape(following)
        elif letter == "%":
            pieces.append("")
        else:
            pieces[-1] += "." if letter == "_" else re.escape(letter)
    first, *inner = pieces
    last = f".*{inner.pop()}" if inner else ""
    between = "".join(f"(?>.*?{piece})" for piece in inner if piece)
    return re.compile(first + between + last, re.DOTALL)


def like(text: str, pattern: str, escape: str | None = None) -> bool:
    """Tell whether a text is LIKE a pattern."""
    return like_pattern(pattern, escape).fullmatch(text) is not None


@lru_cache(maxsize=1024)
def _similar(pattern: str, escape: str | None) -> re.Pattern[str]:
    return re.compile(_similar_pattern(pattern, escape), re.DOTALL)


def _similar_pattern(pattern: str, escape: str | None) -> str:
    parts = []
    letters = iter(pattern)
    for letter in letters:
        if letter == escape:
            parts.append(re.escape(next(letters, "")))
        elif letter == "%":
            parts.append(".*")
        elif letter == "_":
            parts.append(".")
        elif letter in "\\^$":
            parts.append("\\" + letter)
        else:
            parts.append(letter)
    return "".join(parts)


def similar(text: str, pattern: str, escape: str | None = None) -> bool:
    """Tell whether a text is SIMILAR TO a pattern."""
    return _similar(pattern, escape).fullmatch(text) is not None
