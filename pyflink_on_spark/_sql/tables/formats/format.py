"""The contract of formats."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import repeat
from typing import TYPE_CHECKING, Any, ClassVar

from pyflink_on_spark._connectors.formats.text_lines import LineMessages
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.changes import INSERT, ChangeKinds
from pyflink_on_spark._sql.plan.options import Option, TableOptions
from pyflink_on_spark._sql.types.logical import LogicalType, Root

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.formats.file_format import InputFileFormat, OutputFileFormat
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark._sql.plan.nodes import Schema

Decode = Callable[[Iterator[Any]], Iterator[Any]]
"""Makes rows of messages, which are bytes or texts: any number of each. Of a format with changes
it makes pairs of the kind and the row."""

Encode = Callable[[Iterator[Any]], Iterator[Any]]
"""Makes messages of rows."""


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

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
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

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
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
    if kind.root in {Root.VARIANT, Root.BITMAP}:
        return False
    return all(map(_has_text, kind.children))


class EncodeInserts(EncodeOperator):
    """Makes messages of rows with a format that takes changes: all rows are added."""

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the messages."""
        return self._encode(zip(repeat(INSERT), elements))
