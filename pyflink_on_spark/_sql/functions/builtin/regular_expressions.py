r"""Functions of regular expressions.

An expression of Java's syntax may take exponential time for a text, so each call has a limit.
``regex`` can keep to one and understands what ``re`` does. It looks at the clock only where a call
could take long, since that is dearer than most searches.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import regex

from pyflink_on_spark._options.own import REGEX_TIMEOUT
from pyflink_on_spark._sql.codegen.program import Limits
from pyflink_on_spark._sql.functions.definitions import calling_limited, limited
from pyflink_on_spark._sql.plan.signatures import (
    CallSite,
    Code,
    Overload,
    ScalarFunction,
    always,
    as_int,
    characters,
)
from pyflink_on_spark._sql.types import logical

_CLASSES = {
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Upper": "A-Z",
    "Lower": "a-z",
    "Punct": r"!-/:-@\[-`{-~",
}
_PLAIN_BRACE = re.compile(r"(\\[pPxNk]\{|\\.)|\{(?!\d+(?:,\d*)?\})", re.DOTALL)
_NESTED = re.compile(r"\)[*+{]|\\[1-9]|\\k|\(\?P=")
_QUICK = 10**8


class Expression:
    """A regular expression that keeps to limits.

    Args:
        pattern: in Python's syntax.
        shown: what errors call it.
        flags: for ``regex``.

    Raises:
        regex.error: the pattern is malformed.
    """

    def __init__(self, pattern: str, shown: str, flags: int = 0) -> None:
        self.compiled = regex.compile(pattern, flags)
        self._shown = shown
        self._choices = len(pattern) << min(pattern.count("|") + pattern.count("?"), 99)
        self._repetitions = 99 if _NESTED.search(pattern) else sum(map(pattern.count, "*+{"))

    def call(self, limits: Limits, method: Callable[..., object], text: str, *args: Any) -> Any:
        """Call a method of the compiled expression with a text.

        Args:
            limits: of the time.
            method: takes a timeout.
            text: the text.
            args: those before the text.

        Raises:
            RuntimeError: it takes too long.
        """
        if self._choices * (len(text) + 1) ** (self._repetitions + 1) < _QUICK:
            return method(*args, text)
        try:
            return method(*args, text, timeout=limits.time / 1000)
        except (TimeoutError, MemoryError):
            raise RuntimeError(
                f"the regular expression {self._shown!r} took more than {limits.time / 1000:g} s "
                f"of the processor, or all memory, for a text of {len(text):,} characters; "
                f"{REGEX_TIMEOUT.key} allows more time"
            ) from None


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> Expression | None:
    """Return a regular expression of Java, or None if it is malformed."""
    try:
        return Expression(_python(pattern), pattern)
    except regex.error:
        return None
    except RecursionError:
        raise ValueError("a regular expression is nested too deeply") from None


def _python(pattern: str) -> str:
    """Return Java's syntax as Python's, where both differ."""
    pattern = re.sub(r"\(\?<(?![=!])", "(?P<", pattern)
    for java, python in _CLASSES.items():
        pattern = pattern.replace(rf"\p{{{java}}}", f"[{python}]")
    # Such a brace is a letter to Python; to regex it begins an approximate match.
    return _PLAIN_BRACE.sub(lambda found: found[1] or r"\{", pattern)


def _search(limits: Limits, pattern: str, text: str) -> Any:
    found = compiled(pattern)
    return None if found is None else found.call(limits, found.compiled.search, text)


def _matches(limits: Limits, found: Expression, text: str) -> list[Any]:
    def all_of(text: str, timeout: float | None = None) -> list[object]:
        return list(found.compiled.finditer(text, timeout=timeout))

    matches: list[Any] = found.call(limits, all_of, text)
    return matches


def regexp_replace(limits: Limits, text: str, pattern: str, replacement: str) -> str | None:
    """Replace all that matches by a text, which has no references to groups."""
    found = compiled(pattern)
    if found is None:
        return None
    if (len(text) + 1) * len(replacement) > limits.length:
        matches = _matches(limits, found, text)
        replaced = sum(match.end() - match.start() for match in matches)
        limits.check(len(text) - replaced + len(matches) * len(replacement))
    result: str = found.call(limits, found.compiled.sub, text, lambda _: replacement)
    return result


def regexp_extract(limits: Limits, text: str, pattern: str, group: int = 0) -> str | None:
    """Return a group of the first match."""
    found = _search(limits, pattern, text)
    if found is None or not 0 <= group <= len(found.groups()):
        return None
    part: str | None = found[group]
    return part


def regexp_extract_all(
    limits: Limits, text: str, pattern: str, group: int = 1
) -> tuple[str, ...] | None:
    """Return a group of all matches."""
    found = compiled(pattern)
    if found is None or not 0 <= group <= found.compiled.groups:
        return None
    return tuple([match[group] for match in _matches(limits, found, text)])


def regexp(limits: Limits, text: str, pattern: str) -> bool:
    """True if a part of a text matches."""
    return bool(pattern) and _search(limits, pattern, text) is not None


def regexp_count(limits: Limits, text: str, pattern: str) -> int | None:
    """Return how often a pattern matches."""
    found = compiled(pattern)
    return None if found is None else len(_matches(limits, found, text))


def regexp_position(limits: Limits, text: str, pattern: str) -> int | None:
    """Return where the first match begins, counted from 1; 0 if there is none."""
    if compiled(pattern) is None:
        return None
    found = _search(limits, pattern, text)
    return 0 if found is None else found.start() + 1


def regexp_part(limits: Limits, text: str, pattern: str) -> str | None:
    """Return the first match."""
    return regexp_extract(limits, text, pattern)


@lru_cache(maxsize=1024)
def _similar(pattern: str, escape: str | None) -> Expression:
    return Expression(_similar_pattern(pattern, escape), pattern, regex.DOTALL)


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
    return _PLAIN_BRACE.sub(lambda found: found[1] or r"\{", "".join(parts))


def similar(limits: Limits, text: str, pattern: str, escape: str | None = None) -> bool:
    """True if a text is SIMILAR TO a pattern."""
    found = _similar(pattern, escape)
    return found.call(limits, found.compiled.fullmatch, text) is not None


def text_to_map(
    limits: Limits, text: str, pairs: str = ",", equals: str = "="
) -> dict[str, str | None]:
    """Return a map of pairs; both separators are regular expressions."""
    found: dict[str, str | None] = {}
    for pair in _split(limits, text, pairs, 0):
        key, *value = _split(limits, pair, equals, 1)
        found[key] = value[0] if value else None
    return found


def _split(limits: Limits, text: str, separator: str, most: int) -> list[str]:
    """Split a text; a separator of one character that has no meaning needs no expression."""
    if len(separator) == 1 and separator == re.escape(separator):
        return text.split(separator, most or -1)
    expression = _separator(separator)

    def split(text: str, timeout: float | None = None) -> list[str]:
        parts: list[str] = expression.compiled.split(text, most, timeout=timeout)
        return parts

    parts: list[str] = expression.call(limits, split, text)
    return parts


@lru_cache(maxsize=64)
def _separator(pattern: str) -> Expression:
    return Expression(pattern, pattern)


_SIMILAR = calling_limited(similar)


def _not_similar(site: CallSite) -> str:
    return f"not {_SIMILAR(site)}"


_TEXT = logical.STRING
_TWO, _THREE = (characters, characters), (characters, characters, characters)


def _similar_function(name: str, code: Code) -> ScalarFunction:
    form = Overload(_THREE, always(logical.BOOLEAN), code, optional=1)
    return ScalarFunction(name, (form,), (f"'{name}(<STRING>, <STRING>, <STRING>)'",))


FUNCTIONS = (
    limited("REGEXP", _TWO, logical.BOOLEAN, regexp),
    limited("REGEXP_REPLACE", _THREE, _TEXT, regexp_replace),
    limited("REGEXP_EXTRACT", (*_TWO, as_int), _TEXT, regexp_extract, optional=1, nullable=True),
    limited(
        "REGEXP_EXTRACT_ALL",
        (*_TWO, as_int),
        logical.array(_TEXT),
        regexp_extract_all,
        optional=1,
        nullable=True,
    ),
    limited("REGEXP_COUNT", _TWO, logical.INT, regexp_count, nullable=True),
    limited("REGEXP_INSTR", _TWO, logical.INT, regexp_position, nullable=True),
    limited("REGEXP_SUBSTR", _TWO, _TEXT, regexp_part, nullable=True),
    _similar_function("SIMILAR TO", _SIMILAR),
    _similar_function("NOT SIMILAR TO", _not_similar),
    limited(
        "STR_TO_MAP",
        _THREE,
        logical.mapping(_TEXT, _TEXT),
        text_to_map,
        optional=2,
        nullable=True,
    ),
)
