"""The records of a text of comma-separated values, split as Jackson splits them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

_LONGEST_FIELD = 20_000_000
"""In characters, as in Jackson; Python's own limit is far lower."""
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


class RecordSplitter:
    """Splits records into the texts of their fields.

    Args:
        form: how they are written.
    """

    def __init__(self, form: CsvText) -> None:
        self._form = form
        csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_FIELD))
        quote = re.escape(form.quote or "")
        delimiter = re.escape(form.delimiter)
        self._blanks_behind_quote = re.compile(
            rf"(?<!{quote}){quote}[ \t]+(?={delimiter}|[\r\n]|$)"
        )
        self._unescape = _unescaping(form.escape)

    def records(self, text: str) -> Iterator[list[str]]:
        """Yield the fields of each record, a blank line being a record of no field.

        Raises:
            ValueError: in the place of a record that is not well-formed.
        """
        reader = self._reader(self._unescape(text))
        while True:
            try:
                record = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise ValueError(f"{error}, in line {reader.line_num}") from None
            yield record

    def first(self, text: str) -> list[str] | None:
        """Return the fields of the first record, or None if there is none.

        Raises:
            ValueError: it is not well-formed.
        """
        text = self._behind_comments(text) if self._form.comments else text
        if not text:
            return None
        if self._form.is_plain(text):
            return _first_line(text).split(self._form.delimiter)
        try:
            return next(self.records(text)) or [""]
        except ValueError:
            mended = self._without_blanks_behind_quotes(text)
            if mended == text:
                raise
            return next(self.records(mended)) or [""]

    def _reader(self, text: str) -> Any:
        form = self._form
        return csv.reader(
            io.StringIO(text, newline=""),
            delimiter=form.delimiter,
            quotechar=form.quote,
            escapechar=form.escape,
            quoting=csv.QUOTE_NONE if form.quote is None else csv.QUOTE_MINIMAL,
            strict=True,
        )

    def _without_blanks_behind_quotes(self, text: str) -> str:
        """Remove blanks that Jackson leaves out and Python refuses."""
        if self._form.quote is None:
            return text
        return self._blanks_behind_quote.sub(self._form.quote.replace("\\", r"\\"), text)

    def _behind_comments(self, text: str) -> str:
        """Return a text without blanks, and lines that are blank or comments, at its beginning."""
        while True:
            text = text.lstrip(" \t\r\n")
            if not text.startswith("#"):
                return text
            text = text[len(_first_line(text)) :]


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
