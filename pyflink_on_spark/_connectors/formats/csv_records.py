"""The records of a text of comma-separated values, split as Jackson splits them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

_LONGEST_FIELD = 20_000_000
"""In characters, as in Jackson; Python's own limit is far lower."""
_BLANKS = " \t"
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}


@dataclass(frozen=True)
class CsvText:
    """How records are written.

    Attributes:
        delimiter: one character between fields.
        quote: one character around fields, or None.
        escape: one character in front of those that mean themselves, or None.
        comments: whether lines that begin with ``#`` are none, and neither are blank ones.
    """

    delimiter: str = ","
    quote: str | None = '"'
    escape: str | None = None
    comments: bool = False

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of Python's reader."""
        csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_FIELD))
        return {
            "delimiter": self.delimiter,
            "quotechar": self.quote,
            "escapechar": self.escape,
            "quoting": csv.QUOTE_NONE if self.quote is None else csv.QUOTE_MINIMAL,
            "strict": True,
        }

    def is_plain(self, text: str) -> bool:
        """Whether nothing in a text is quoted or escaped."""
        return (self.quote is None or self.quote not in text) and (
            self.escape is None or self.escape not in text
        )


class RecordReader:
    """Reads records; each is the texts of its fields, a blank line has none.

    Iteration ends at a record that is not well-formed; ``check`` raises its error.

    Args:
        lines: the text, with its line ends.
        form: how records are written.
    """

    def __init__(self, lines: Iterable[str], form: CsvText) -> None:
        self._form = form
        self._lines = _Lines(lines, form)
        self._error: csv.Error | None = None
        self._reader = csv.reader(self._lines, **form.arguments())
        blanks = f"(?<!{{0}}){{0}}[ \\t]+(?={re.escape(form.delimiter)}|[\\r\\n]|$)"
        self._blanks_behind_quote = re.compile(blanks.format(re.escape(form.quote or "")))

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        self._lines.begin_record()
        try:
            return next(self._reader)
        except csv.Error as error:
            return self._mended_record(error)

    def check(self) -> None:
        """Raise the error of the record that iteration ended at, if there is one.

        Raises:
            ValueError: the record is not well-formed.
        """
        if self._error is not None:
            raise ValueError(str(self._error)) from self._error

    def skip_line(self) -> None:
        """Leave out a line."""
        self._lines.skip()

    stuck = False

    def take(self, count: int) -> list[list[str]]:
        """Return the next records, as many at most."""
        return list(islice(self, count))

    @property
    def line(self) -> int:
        """The number of the line at which the reader is, from 1."""
        return self._lines.number

    def _mended_record(self, error: csv.Error) -> list[str]:
        """Return a record after which Jackson overlooks blanks that Python does not."""
        quote = self._form.quote
        while quote is not None:
            text = "".join(self._lines.record)
            mended = self._blanks_behind_quote.sub(quote.replace("\\", "\\\\"), text, count=1)
            if mended == text:
                break
            self._lines.push_back(mended)
            try:
                return next(self._reader)
            except csv.Error as still:
                error = still
        self._error = error
        raise StopIteration


class QuickReader:
    """Reads records without comments and escapes, as long as Python's own reader takes them.

    Args:
        lines: the text, with its line ends.
        form: how records are written.
    """

    def __init__(self, lines: Iterator[str], form: CsvText) -> None:
        self._lines = lines
        self._reader = csv.reader(lines, **form.arguments())
        self.stuck = False
        """Whether there is a record that it does not take."""

    def take(self, count: int) -> list[list[str]]:
        """Return the next records, as many at most; none behind one that it does not take."""
        records: list[list[str]] = []
        if self.stuck:
            return records
        try:
            records.extend(islice(self._reader, count))
        except (csv.Error, UnicodeDecodeError):
            self.stuck = True
        return records

    def skip_line(self) -> None:
        """Leave out a line."""
        next(self._lines, None)

    def check(self) -> None:
        """Do nothing: nothing is wrong before a careful reader says so."""


class _Lines:
    """Hands out lines; leaves out comments and blank lines between records where that is asked."""

    def __init__(self, lines: Iterable[str], form: CsvText) -> None:
        self._lines = iter(lines)
        self._comments = form.comments
        self._unescape = _unescaping(form.escape)
        self._between = True
        self.record: list[str] = []
        self.number = 0

    def begin_record(self) -> None:
        self._between = True
        self.record.clear()

    def skip(self) -> None:
        self.number += 1
        next(self._lines, None)

    def push_back(self, text: str) -> None:
        pushed = io.StringIO(text, newline="")
        self.number -= len(self.record)
        self.record.clear()
        self._between = False
        self._lines = chain(pushed, self._lines)

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._unescape(self._next_line())
        self.record.append(line)
        return line

    def _next_line(self) -> str:
        line = next(self._lines)
        self.number += 1
        if not self._between:
            return line
        self._between = False
        if not self._comments:
            return line
        line = line.lstrip(_BLANKS)
        while not line.rstrip("\r\n") or line.startswith("#"):
            line = next(self._lines).lstrip(_BLANKS)
            self.number += 1
        return line


def first_record(form: CsvText) -> Callable[[str], list[str] | None]:
    """Return a function that gives the fields of a text's first record, or None if there is none.

    Raises:
        ValueError: from the function returned: the record is not well-formed.
    """
    delimiter, arguments = form.delimiter, form.arguments()

    def first(text: str) -> list[str] | None:
        if not text:
            return None
        if form.comments or form.escape is not None:
            return _first_of(text, form)
        if form.is_plain(text):
            return _first_line(text).split(delimiter)
        try:
            return next(csv.reader((text,), **arguments)) or [""]
        except csv.Error:  # there is a second line, or something that only Jackson takes
            return _first_of(text, form)

    return first


def _first_of(text: str, form: CsvText) -> list[str] | None:
    reader = RecordReader(io.StringIO(text, newline=""), form)
    record = next(reader, None)
    reader.check()
    return [""] if record == [] else record


def _first_line(text: str) -> str:
    end = text.find("\n")
    line = text if end < 0 else text[:end]
    end = line.find("\r")
    return line if end < 0 else line[:end]


def _unescaping(escape: str | None) -> Callable[[str], str]:
    """Return a function that resolves escapes which stand for control characters."""
    if escape is None:
        return lambda text: text
    pairs = re.compile(re.escape(escape) + "(.)", re.DOTALL)
    head: str = escape

    def resolve(match: re.Match[str]) -> str:
        return head + _ESCAPED.get(match.group(1), match.group(1))

    return lambda text: pairs.sub(resolve, text) if head in text else text
