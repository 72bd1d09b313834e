"""How CSV is written."""

from __future__ import annotations

from dataclasses import dataclass

from pyflink_on_spark._connectors.formats import csv_records


@dataclass(frozen=True)
class CsvDialect:
    """What the options say.

    Args:
        delimiter: stands between fields.
        quote: stands around texts, or None.
        escape: stands before what has no meaning of its own, or None.
        comments: whether lines that begin with # are left out.
        lenient: whether a field that cannot be read is NULL.
        array_delimiter: stands between the elements of an array.
        null: how NULL is written, or None for nothing at all.
    """

    delimiter: str = ","
    quote: str | None = '"'
    escape: str | None = None
    comments: bool = False
    lenient: bool = False
    array_delimiter: str = ";"
    null: str | None = None

    @property
    def records(self) -> csv_records.CsvDialect:
        """How records are divided into fields."""
        return csv_records.CsvDialect(self.delimiter, self.quote, self.escape, self.comments)
