"""The records of a text of comma-separated values, split as Jackson splits them."""

from __future__ import annotations

import csv
import io
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from pyflink_on_spark._runtime.bundle import BUNDLE_SIZE

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
        csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_FIELD))
        self._form = form
        self._lines = _Lines(lines, form)
        self._error: csv.Error | None = None
        self._ends: deque[int] = deque(maxlen=BUNDLE_SIZE)
        self._reader = csv.reader(
            self._lines,
            delimiter=form.delimiter,
            quotechar=form.quote,
            escapechar=form.escape,
            quoting=csv.QUOTE_NONE if form.quote is None else csv.QUOTE_MINIMAL,
            strict=True,
        )
        blanks = f"(?<!{{0}}){{0}}[ \\t]+(?={re.escape(form.delimiter)}|[\\r\\n]|$)"
        self._blanks_behind_quote = re.compile(blanks.format(re.escape(form.quote or "")))

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        self._lines.begin_record()
        try:
            record = next(self._reader)
        except csv.Error as error:
            record = self._mended_record(error)
        self._ends.append(self._lines.number)
        return record

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

    def line_of(self, error: BaseException) -> int:
        """Return where an error is: ``error.index`` counts records from the last, which is -1."""
        index = getattr(error, "index", None)
        return self._lines.number if index is None else self._ends[index]

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


def first_record(text: str, form: CsvText) -> list[str] | None:
    """Return the fields of the first record of a text, or None if there is none.

    Raises:
        ValueError: it is not well-formed.
    """
    if not text:
        return None
    if not form.comments and form.is_plain(text):
        return _first_line(text).split(form.delimiter)
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
