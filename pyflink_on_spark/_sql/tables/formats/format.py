"""The contract of formats, their registry, and a cache of timestamps."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import repeat
from typing import TYPE_CHECKING, Any, ClassVar

from pyflink_on_spark._connectors.formats.file_format import LineMessages
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._sql.errors import ValidationError, did_you_mean
from pyflink_on_spark._sql.plan.nodes import INSERT, ChangeKinds
from pyflink_on_spark._sql.plan.options import Option, TableOptions, text
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark._sql.types.temporal import cut_micros, is_plain_timestamp, parse_timestamp

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.formats.file_format import InputFileFormat, OutputFileFormat
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark._sql.plan.nodes import Schema


Decode = Callable[[Iterator[Any]], Iterator[Any]]
"""Makes rows of messages, which are bytes or texts: any number of each. Of a format with changes
it makes pairs of the kind and the row."""
Encode = Callable[[Iterator[Any]], Iterator[Any]]
"""Makes messages of rows."""
_PACKAGE = "pyflink_on_spark._sql.tables.formats"
_MOST = 20_000
_DAY, _HOUR, _TO_THE_SECOND = 10, 11, 19
_WITH_POINT = 20


class Decoder(ABC):
    """Reads rows. Picklable."""

    changes: ChangeKinds = ChangeKinds.INSERT

    @abstractmethod
    def load(self) -> Decode:
        """Return the function that decodes messages; called once in each subtask.

        It raises ValueError for a message that it cannot read.
        """

    def projected(self, columns: tuple[int, ...]) -> Decoder | None:
        """Return a decoder that reads some columns only, or None if the format reads all.

        Args:
            columns: their positions, in the order in which rows have them.
        """
        return None


class Encoder(ABC):
    """Writes rows, or pairs of the kind and the row if it takes changes. Picklable."""

    accepts: ChangeKinds = ChangeKinds.INSERT

    @abstractmethod
    def load(self) -> Encode:
        """Return the function that encodes rows; called once in each subtask."""


class Format(ABC):
    """A format, found by the option ``format``. A subclass overrides what the format can do."""

    identifier: ClassVar[str]
    options: ClassVar[tuple[Option[Any], ...]] = ()

    @abstractmethod
    def decoder(self, schema: Schema, options: TableOptions, time_zone: str) -> Decoder:
        """Return the decoder of messages.

        Args:
            schema: the columns.
            options: the format's own, without its name before them.
            time_zone: the session's, by name.

        Raises:
            ValidationError: an option is wrong, or the format has no such columns.
        """

    @abstractmethod
    def encoder(self, schema: Schema, options: TableOptions, time_zone: str) -> Encoder:
        """Return the encoder of messages; for the arguments see ``decoder``."""

    def file_messages(self, options: TableOptions) -> InputFileFormat:
        """Return the reader of messages in files: lines, unless the format differs.

        Args:
            options: the format's own, without its name before them.
        """
        return LineMessages()

    def file_input(
        self, schema: Schema, options: TableOptions, time_zone: str
    ) -> InputFileFormat | None:
        """Return the reader of files; None for a format of messages.

        For the arguments see ``decoder``.
        """
        return None

    def file_output(
        self, schema: Schema, options: TableOptions, time_zone: str
    ) -> OutputFileFormat | None:
        """Return the writer of files; None for a format with one message per line.

        For the arguments see ``decoder``.
        """
        return None


class FileFormat(Format):
    """A format of whole files, which has no messages."""

    def decoder(self, schema: Schema, options: TableOptions, time_zone: str) -> Decoder:
        """Refuse: there are no messages."""
        raise self._no_messages("DeserializationFormatFactory")

    def encoder(self, schema: Schema, options: TableOptions, time_zone: str) -> Encoder:
        """Refuse: there are no messages."""
        raise self._no_messages("SerializationFormatFactory")

    def _no_messages(self, factory: str) -> ValidationError:
        return ValidationError(
            f"Could not find any factory for identifier '{self.identifier}' that implements "
            f"'org.apache.flink.table.factories.{factory}': it is a format of files, for the "
            "connector 'filesystem'."
        )


class RowsDecoder(Decoder):
    """Passes on rows that are read already."""

    def load(self) -> Decode:
        """Return the identity: rows pass unchanged."""
        return iter


class RowsEncoder(Encoder):
    """Passes on rows that a format of files writes."""

    def load(self) -> Encode:
        """Return the identity: rows pass unchanged."""
        return iter


class DecodeOperator(Operator):
    """Makes rows of messages.

    Args:
        decoder: the format's.
        ends_chain: whether what follows works in slices of a bundle, of which the format may read
            all messages at once.
    """

    emits_immutable = True

    def __init__(self, decoder: Decoder, *, ends_chain: bool = False) -> None:
        self._decoder, self.ends_chain = decoder, ends_chain

    def open(self, context: OperatorContext) -> None:
        """Load the format."""
        self._decode = self._decoder.load()

    def process(self, elements: Iterator[object]) -> Iterator[Any]:
        """Yield the rows."""
        return self._decode(elements)


class EncodeOperator(Operator):
    """Makes messages of rows.

    Args:
        encoder: the format's.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def open(self, context: OperatorContext) -> None:
        """Load the format."""
        self._encode = self._encoder.load()

    def process(self, elements: Iterator[object]) -> Iterator[Any]:
        """Yield the messages."""
        return self._encode(elements)


def check_has_text(schema: Schema) -> None:
    """Check that formats of text have all types.

    Raises:
        ValidationError: a column is of a type that they do not have.
    """
    for name, kind in zip(schema.names, schema.types):
        if not _has_text(kind):
            raise ValidationError(f"Unsupported type '{kind}' for field '{name}'.")


def _has_text(kind: LogicalType) -> bool:
    if kind.root in {Root.STRUCTURED, Root.VARIANT, Root.BITMAP}:
        return False
    return all(map(_has_text, kind.children))


class EncodeInserts(EncodeOperator):
    """Makes messages of rows with a format that takes changes: all rows are added."""

    def process(self, elements: Iterator[object]) -> Iterator[Any]:
        """Yield the messages."""
        return self._encode(zip(repeat(INSERT), elements))


FORMATS: dict[str, str] = {
    "avro": "avro:AvroFormat",
    "avro-confluent": "avro_confluent:ConfluentAvroFormat",
    "canal-json": "json:CanalJson",
    "csv": "csv:CsvFormat",
    "debezium-avro-confluent": "avro_confluent:DebeziumAvroFormat",
    "debezium-json": "json:DebeziumJson",
    "json": "json:JsonFormat",
    "maxwell-json": "json:MaxwellJson",
    "ogg-json": "json:OggJson",
    "orc": "columnar:OrcFormat",
    "parquet": "columnar:ParquetFormat",
    "protobuf": "protobuf:ProtobufFormat",
    "raw": "raw:RawFormat",
}
"""The module below this package, and the format in it, for each identifier."""


def find_format(options: TableOptions, key: str = "format") -> tuple[Format, TableOptions]:
    """Return the format that an option names, and the options of that format.

    Args:
        options: the table's.
        key: the option, ``value.format`` for example.

    Raises:
        ValidationError: the option is missing, or there is no such format.
    """
    identifier = options[Option(key, text, required=True)]
    found = FORMATS.get(identifier)
    if found is None:
        raise ValidationError(
            f"Could not find any factory for identifier '{identifier}'"
            f"{did_you_mean(identifier, FORMATS) or '.'} "
            "Available factory identifiers are:\n\n" + "\n".join(sorted(FORMATS))
        )
    module, _, name = found.partition(":")
    loaded: Format = getattr(importlib.import_module(f"{_PACKAGE}.{module}"), name)()
    prefix = key.removesuffix("format")
    return loaded, options.under(f"{prefix}{identifier}.")


class BoundedCache(dict[str, int]):
    """A bounded cache of a function of texts.

    Args:
        find: the function.
    """

    def __init__(self, find: Callable[[str], int]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, text: str) -> int:
        value = self._find(text)
        if len(self) >= _MOST:
            self.clear()
        self[text] = value
        return value

    def all(self, texts: list[str]) -> list[int]:
        """Return the results for some texts."""
        return list(map(self.__getitem__, texts))


def usual_timestamps(digits: int, zone: bool) -> Callable[[list[str]], list[int]]:
    """Return the parser of texts like ``2024-01-01 00:00:00.123``.

    It returns microseconds, and raises ValueError if a text has another form, also one that means
    a timestamp.

    Args:
        digits: how many of the fraction of a second count.
        zone: whether there is a Z after them.
    """
    ends = {"Z", "."} if zone else {"", "."}

    def second(text: str) -> int:
        if text[_TO_THE_SECOND:] not in ends or text[_DAY:_HOUR] != " ":
            raise ValueError(f"{text!r} is unusual")
        return _second(text)

    def fraction(text: str) -> int:
        if text and text.endswith("Z") is not zone:
            raise ValueError(f"{text!r} is unusual")
        return cut_micros(_fraction(text), digits)

    seconds, fractions = BoundedCache(second), BoundedCache(fraction)
    return lambda texts: [
        seconds[text[:_WITH_POINT]] + fractions[text[_WITH_POINT:]] for text in texts
    ]


def timestamp_reader(digits: int, otherwise: Callable[[str], int]) -> Callable[[str], int]:
    """Return the parser of one text as ``usual_timestamps`` has it, with a fallback."""
    seconds, fractions = _parts(digits)

    def read(text: str) -> int:
        try:
            return seconds[text[:_WITH_POINT]] + fractions[text[_WITH_POINT:]]
        except (ValueError, TypeError):
            return otherwise(text)

    return read


def _parts(digits: int) -> tuple[BoundedCache, BoundedCache]:
    return BoundedCache(_second), BoundedCache(lambda text: cut_micros(_fraction(text), digits))


def _second(text: str) -> int:
    """Return the microseconds of the beginning of a text, up to the point."""
    moment, end = text[:_TO_THE_SECOND], text[_TO_THE_SECOND:]
    if len(moment) == _TO_THE_SECOND and end in {"", ".", "Z"} and is_plain_timestamp(moment):
        found = parse_timestamp(moment)
        if found is not None:
            return found
    raise ValueError(f"{text!r} is unusual")


def _fraction(text: str) -> int:
    digits = text.removesuffix("Z")
    if not text:
        return 0
    if digits.isascii() and digits.isdigit():
        return int(f"{digits}000000"[:6])
    raise ValueError(f"{text!r} is unusual")
