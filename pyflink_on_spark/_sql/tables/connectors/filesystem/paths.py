"""What the path of a file says: the columns of its partition, and its metadata."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import groupby, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from pyflink_on_spark._connectors.files.bucket_naming import BasePathBuckets
from pyflink_on_spark._connectors.formats.input_format import FileSplit, InputFileFormat
from pyflink_on_spark._connectors.formats.output_format import OutputFileFormat, OutputFileWriter
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.elements.bundle import Bundle
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.plan.changes import INSERT, ModifyKinds
from pyflink_on_spark._sql.tables.formats.format import Decoder, Encoder
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark.common.typeinfo import TypeInformation, Types

if TYPE_CHECKING:
    from typing import BinaryIO

    from pyflink_on_spark._runtime.contract.context import OperatorContext

# What Hive writes with a percent sign in names of folders.
_PLAIN = " !$&()+,;<>@_`|~-."

METADATA = {
    "file.path": logical.STRING.with_nullable(False),
    "file.name": logical.STRING.with_nullable(False),
    "file.size": logical.BIGINT.with_nullable(False),
    "file.modification-time": logical.timestamp_ltz(3).with_nullable(False),
}
"""The metadata of a file, and their types."""

_READERS: dict[str, Callable[[str], Any]] = {
    "file.path": lambda path: path,
    "file.name": lambda path: path.rpartition("/")[2],
    "file.size": os.path.getsize,
    "file.modification-time": lambda path: int(os.path.getmtime(path) * 1000) * 1000,
}


class WithPaths(InputFileFormat):
    """Makes of each record of another format a pair of its file's path and itself.

    Args:
        records: the other format.
    """

    def __init__(self, records: InputFileFormat) -> None:
        self._records = records

    @property
    def produced_type(self) -> TypeInformation:
        """The type of the pairs."""
        return Types.PICKLED_BYTE_ARRAY()

    def is_splittable(self, path: str) -> bool:
        """Tell it of the other format."""
        return self._records.is_splittable(path)

    def read(self, split: FileSplit) -> Iterator[Bundle]:
        """Yield the pairs."""
        for bundle in self._records.read(split):
            yield _paired(str(split.path), bundle)

    def resume(self, split: FileSplit, position: Any) -> Iterator[tuple[Bundle, Any]] | None:
        """Yield the pairs from a position on, if the other format can."""
        found = self._records.resume(split, position)
        if found is None:
            return None
        return ((_paired(str(split.path), bundle), after) for bundle, after in found)


def _paired(path: str, bundle: Bundle) -> Bundle:
    return Bundle([(path, value) for value in bundle.values])


class DecodeWithPaths(Operator):
    """Makes rows of pairs of a path and a message.

    Args:
        decoder: reads the columns that are in the messages.
        partition: the name of each partition column, and a function that reads its text.
        order: for each column of a row its place among those of messages, then of partitions.
        metadata: the keys of the metadata.
        default: the name of the folder for no value.
    """

    frozen = True

    def __init__(
        self,
        decoder: Decoder,
        partition: tuple[tuple[str, Program], ...],
        order: tuple[int, ...],
        metadata: tuple[str, ...],
        default: str,
    ) -> None:
        self._decoder, self._partition = decoder, partition
        self._order, self._metadata, self._default = order, metadata, default

    def open(self, context: OperatorContext) -> None:
        """Load the format."""
        self._decode = self._decoder.load()
        self._known: dict[str, tuple[Any, Any]] = {}
        self._readers = [
            (name, program.load(context).function) for name, program in self._partition
        ]

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the rows."""
        order, known = self._order, self._known
        kinds = self._decoder.changes is not ModifyKinds.INSERT
        for path, pairs in groupby(elements, itemgetter(0)):
            found = known.get(path)
            if found is None:
                found = known[path] = self._of(path)
            values, metadata = found
            for row in self._decode(map(itemgetter(1), pairs)):
                both = (row[1] if kinds else row) + values
                whole = (*[both[place] for place in order], *metadata)
                yield (row[0], whole) if kinds else whole

    def _of(self, path: str) -> tuple[Any, Any]:
        folders = dict(part.split("=", 1) for part in path.split("/")[:-1] if "=" in part)
        values = tuple([self._value(folders, name, read) for name, read in self._readers])
        return values, tuple([_READERS[key](path) for key in self._metadata])

    def _value(self, folders: dict[str, str], name: str, read: Callable[[Any], Any]) -> Any:
        written = unquote(folders[name])
        return None if written == self._default else read((written,))


class EncodeWithFolders(Operator):
    """Makes of rows pairs of the folder of their partition and the message.

    Args:
        encoder: writes the columns that are in the messages.
        partition: the name of each partition column, its place, and what writes it as text.
        columns: the places of the columns that are in the messages.
        default: the name of the folder for no value.
        changelog: whether elements are pairs of the kind and the row.
    """

    frozen = True

    def __init__(
        self,
        encoder: Encoder,
        partition: tuple[tuple[str, Program], ...],
        columns: tuple[int, ...],
        default: str,
        changelog: bool,
    ) -> None:
        self._encoder, self._partition = encoder, partition
        self._columns, self._default = columns, default
        self._changelog = changelog
        self._takes_kinds = encoder.accepts is not ModifyKinds.INSERT

    def open(self, context: OperatorContext) -> None:
        """Load the format."""
        self._encode = self._encoder.load()
        self._writers = [
            (name, program.load(context).function) for name, program in self._partition
        ]

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the pairs."""
        folder, columns = "", self._columns
        if self._takes_kinds and not self._changelog:
            elements = zip(repeat(INSERT), elements)

        def rows() -> Iterator[Any]:
            nonlocal folder
            for row in elements:
                folder = self._folder(row)
                yield tuple([row[index] for index in columns])

        def changes() -> Iterator[Any]:
            nonlocal folder
            for kind, row in elements:
                folder = self._folder(row)
                yield kind, tuple([row[index] for index in columns])

        for message in self._encode(changes() if self._takes_kinds else rows()):
            yield folder, message

    def _folder(self, row: Any) -> str:
        parts = []
        for name, write in self._writers:
            text = write(row)
            parts.append(f"{name}={quote(text or self._default, safe=_PLAIN)}")
        return "/".join(parts)


class PartitionBuckets(BasePathBuckets):
    """The first of each pair is its folder."""

    def of_element(self) -> Callable[[Any], str]:
        """Return what gives the folder."""
        return lambda pair: str(pair[0])


class OfPairs(OutputFileFormat):
    """Writes the second of each pair in another format.

    Args:
        messages: the other format.
    """

    def __init__(self, messages: OutputFileFormat) -> None:
        self._messages = messages

    def check_input(self, type_info: Any) -> None:
        """Do nothing: the table has checked the columns."""

    def converter(self) -> Callable[[Any], Any]:
        """Return what takes the message out of a pair."""
        convert = self._messages.converter()
        return lambda pair: convert(pair[1])

    def open(self, file: BinaryIO) -> OutputFileWriter:
        """Begin a file."""
        return self._messages.open(file)
