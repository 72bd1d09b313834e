"""Splits CSV text into records and fields, as Jackson does."""

from __future__ import annotations

import codecs
import csv
import io
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, count, islice
from typing import Any

from pyflink_on_spark._options.own import MAX_RECORD_SIZE
from pyflink_on_spark.common.typeinfo import RowTypeInfo

_LONGEST_FIELD = 20_000_000
"""In characters, as in Jackson; Python's own limit is far lower."""
BLANK = " "
"""Skipped before a record where there may be comments; a tab is not."""
_ERRORS = {"unexpected end of data": "Missing closing quote for value"}
"""Jackson's words for Python's."""
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}


@dataclass(frozen=True)
class CsvDialect:
    """The dialect of CSV records.

    Attributes:
        delimiter: the character between fields.
        quote: the character around fields, or None.
        escape: the character before escaped characters, or None.
        comments: whether lines that begin with ``#``, and blank lines, are skipped.
    """

    delimiter: str = ","
    quote: str | None = '"'
    escape: str | None = None
    comments: bool = False

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``csv.reader``."""
        csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_FIELD))
        return {
            "delimiter": self.delimiter,
            "quotechar": self.quote,
            "escapechar": self.escape,
            "quoting": csv.QUOTE_NONE if self.quote is None else csv.QUOTE_MINIMAL,
            "strict": True,
        }

    def is_plain(self, text: str) -> bool:
        """True for a text without quotes and escapes."""
        return (self.quote is None or self.quote not in text) and (
            self.escape is None or self.escape not in text
        )


_ONE_BY_ONE = 100
"""After so many places of a record with blanks, all others are mended at once."""


class RecordReader:
    """Reads records: the lists of their fields' texts. A blank line is an empty list.

    Iteration ends before a record that is not well-formed; ``check`` raises its error.

    Args:
        lines: the lines of the text, with line ends.
        form: the dialect.
        lenient: whether records that are not well-formed are left out, as far as Jackson can.
        most: how many characters a record may have.
    """

    def __init__(
        self,
        lines: Iterable[str],
        form: CsvDialect,
        lenient: bool = False,
        most: int = sys.maxsize,
    ) -> None:
        self._form, self._lenient = form, lenient
        self._lines = _Lines(lines, form, most)
        self._error: csv.Error | None = None
        self._reader = csv.reader(self._lines, **form.arguments())
        blanks = f"(?<!{{0}}){{0}}[ \\t]+(?={re.escape(form.delimiter)}|[\\r\\n]|$)"
        self._blanks_after_quote = re.compile(blanks.format(re.escape(form.quote or "")))
        self._fields = re.compile(_field_pattern(form))

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        self._lines.begin_record()
        try:
            return next(self._reader)
        except csv.Error as error:
            return self._mended_record(error)

    def _next_after_bad(self, error: csv.Error) -> list[str]:
        """Return the first record after a bad one.

        Jackson resumes after the character that it did not expect, with a new field, and drops
        what is left of the record. A quote that stays open takes the rest of the file with it.
        """
        text = "".join(self._lines.record)
        end = self._fields.match(text)
        assert end is not None, "the pattern matches an empty text"
        if end.end() >= len(text):
            raise StopIteration
        rest = text[end.end() + 1 :]
        if rest:
            self._lines.push_back(rest)
            try:
                next(self._reader)
            except csv.Error:
                self._error = error
                raise StopIteration from None
        return next(self)

    def check(self) -> None:
        """Raise the error of the record at which iteration ended, if there is one.

        Raises:
            ValueError: the record is not well-formed.
        """
        if self._error is not None:
            text = str(self._error)
            raise ValueError(_ERRORS.get(text, text)) from self._error

    def skip_line(self) -> None:
        """Skip a line."""
        self._lines.skip()

    stuck = False

    def take(self, count: int) -> list[list[str]]:
        """Return at most ``count`` of the next records."""
        return list(islice(self, count))

    @property
    def line(self) -> int:
        """The number of the current line, from 1."""
        return self._lines.number

    def _mended_record(self, error: csv.Error) -> list[str]:
        """Return a record with blanks after a quote, which Jackson skips and Python does not."""
        plain = (self._form.quote or "").replace("\\", "\\\\")
        for mends in count() if plain else ():
            text = "".join(self._lines.record)
            most = 1 if mends < _ONE_BY_ONE else 0
            mended = self._blanks_after_quote.sub(plain, text, count=most)
            if mended == text:
                break
            self._lines.push_back(mended)
            try:
                return next(self._reader)
            except csv.Error as still:
                error = still
        if self._lenient:
            return self._next_after_bad(error)
        self._error = error
        raise StopIteration


class FastRecordReader:
    """Reads records without comments and escapes with ``csv.reader`` alone.

    Args:
        lines: the lines of the text, with line ends.
        form: the dialect.
    """

    def __init__(self, lines: Iterator[str], form: CsvDialect) -> None:
        self._lines = lines
        self._reader = csv.reader(lines, **form.arguments())
        self.stuck = False
        """True once ``csv.reader`` has rejected a record; a ``RecordReader`` may accept it."""

    def take(self, count: int) -> list[list[str]]:
        """Return at most ``count`` of the next records; none after a rejected one."""
        records: list[list[str]] = []
        if self.stuck:
            return records
        try:
            records.extend(islice(self._reader, count))
        except (csv.Error, UnicodeDecodeError):
            self.stuck = True
        return records

    def skip_line(self) -> None:
        """Skip a line."""
        next(self._lines, None)

    def check(self) -> None:
        """Do nothing: only a ``RecordReader`` decides whether a record is well-formed."""


class _Lines:
    """Yields lines; skips comments and blank lines between records if the dialect says so."""

    def __init__(self, lines: Iterable[str], form: CsvDialect, most: int) -> None:
        self._lines, self._most, self._length = iter(lines), most, 0
        self._comments = form.comments
        self._unescape = _unescaping(form.escape)
        self._between = True
        self.record: list[str] = []
        self.number = 0

    def begin_record(self) -> None:
        self._between, self._length = True, 0
        self.record.clear()

    def skip(self) -> None:
        self.number += 1
        next(self._lines, None)

    def push_back(self, text: str) -> None:
        pushed = io.StringIO(text, newline="")
        self.number -= len(self.record)
        self.record.clear()
        self._length = 0
        self._between = False
        self._lines = chain(pushed, self._lines)

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._unescape(self._next_line())
        self._length += len(line)
        if self._length > self._most:
            raise ValueError(
                f"a record has more than {self._most:,} characters; "
                f"{MAX_RECORD_SIZE.key} allows more"
            )
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
        line = line.lstrip(BLANK)
        while not line.rstrip("\r\n") or line.startswith("#"):
            line = next(self._lines).lstrip(BLANK)
            self.number += 1
        return line


def _field_pattern(form: CsvDialect) -> str:
    """Return a pattern of well-formed fields, up to a character that must not follow a quote."""
    delimiter, quote = re.escape(form.delimiter), re.escape(form.quote or "")
    escaped = "" if form.escape is None else f"{re.escape(form.escape)}.|"
    plain = f"(?!{quote})(?:{escaped}[^{delimiter}\\r\\n])*" if quote else f"[^{delimiter}\\r\\n]*"
    if not quote:
        return f"(?s:{plain}(?:{delimiter}{plain})*)"
    text = f"{quote}(?:{escaped}{quote}{quote}|[^{quote}])*(?:{quote}[ \\t]*|\\Z)"
    field = f"(?:{text}|{plain})"
    return f"(?s:{field}(?:{delimiter}{field})*)"


def message_text(message: bytes) -> str:
    """Return the text of a message; a surrogate, which Java cannot encode, is a question mark.

    Raises:
        ValueError: the message is not in UTF-8.
    """
    return message.removeprefix(codecs.BOM_UTF8).decode(errors=SURROGATES)


def _replace_surrogate(error: UnicodeError) -> tuple[str | bytes, int]:
    if isinstance(error, UnicodeDecodeError):
        wrong = error.object[error.start : error.start + 3]
        if len(wrong) == 3 and wrong[0] == 0xED and wrong[1] >= 0xA0 and 0x80 <= wrong[2] <= 0xBF:
            return "?", error.start + 3
    raise error


SURROGATES = "pyflink_on_spark.surrogates"
"""The handler of errors in UTF-8 for which a surrogate is a question mark."""
codecs.register_error(SURROGATES, _replace_surrogate)


def first_record(form: CsvDialect) -> Callable[[str], list[str] | None]:
    """Return a function that returns the fields of a text's first record; None without a record.

    Raises:
        ValueError: the returned function raises it for a record that is not well-formed.
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


def _first_of(text: str, form: CsvDialect) -> list[str] | None:
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
    """Return a function that resolves escapes of control characters."""
    if escape is None:
        return lambda text: text
    pairs = re.compile(re.escape(escape) + "(.)", re.DOTALL)
    head: str = escape

    def resolve(match: re.Match[str]) -> str:
        return head + _ESCAPED.get(match.group(1), match.group(1))

    return lambda text: pairs.sub(resolve, text) if head in text else text


@dataclass(frozen=True)
class CsvRowFormat:
    r"""The form of a row as a CSV message.

    Attributes:
        row_type: the type of the row.
        field_delimiter: the character between fields.
        array_delimiter: the text between the elements of arrays and nested rows.
        quote: the character around texts, or None for no quotes.
        escape: the escape character, or None for no escapes.
        null: the text for None. None: no text is read as None, and None is written as no text.
        line_delimiter: the text after a written row: ``\n``, ``\r``, ``\r\n`` or nothing.
        comments: whether a message that begins with ``#`` is not a row.
        ignore_errors: whether a field or a message that cannot be read becomes None; otherwise the
            job fails.
    """

    row_type: RowTypeInfo
    field_delimiter: str = ","
    array_delimiter: str = ";"
    quote: str | None = '"'
    escape: str | None = None
    null: str | None = None
    line_delimiter: str = "\n"
    comments: bool = False
    ignore_errors: bool = False

    @property
    def dialect(self) -> CsvDialect:
        """The dialect of the fields."""
        return CsvDialect(self.field_delimiter, self.quote, self.escape, self.comments)


_LONGEST_WITHOUT_LOOKING = 24
"""In characters: Jackson quotes a longer text without a check whether that is necessary."""


def quoting(
    delimiter: str, quote: str | None, escape: str | None, line_end: str = ""
) -> Callable[[str], str]:
    """Return a function that quotes a text if necessary.

    As in Jackson, every character up to the highest special one counts as special: with ``|``
    between fields nearly all texts are quoted.

    Args:
        delimiter: the character between fields.
        quote: the character around texts; None: texts are neither quoted nor escaped.
        escape: a character that is doubled, or None.
        line_end: the text at the end of a record.
    """
    if quote is None:
        return lambda text: text
    highest = re.escape(max(delimiter, quote, *line_end))
    search = re.compile(f"[\\0-{highest}]|{re.escape(escape or chr(92))}").search
    doubled_quote = quote + quote

    def write(text: str) -> str:
        if len(text) <= _LONGEST_WITHOUT_LOOKING and search(text) is None:
            return text
        text = text.replace(quote, doubled_quote)
        if escape is not None and escape != quote:
            text = text.replace(escape, escape + escape)
        return f"{quote}{text}{quote}"

    return write
