"""Partitions of a table of files: their paths, their time, and how they are committed."""

from __future__ import annotations

import datetime
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from pyflink_on_spark._connectors.files.bucket_naming import BasePathBuckets, parse_time_zone
from pyflink_on_spark._connectors.files.config import FileSinkConfig
from pyflink_on_spark._connectors.files.part_file import InProgressFile, PendingFile
from pyflink_on_spark._connectors.files.sink import BucketWriter, FileSinkWriter, PartFileSink
from pyflink_on_spark._connectors.formats.file_format import (
    FileSplit,
    InputFileFormat,
    LineEncoder,
    OutputFileFormat,
    OutputFileWriter,
)
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK, MIN_TIMESTAMP, Bundle
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.plan.nodes import INSERT, ChangeKinds
from pyflink_on_spark._sql.tables.formats.format import Decoder, Encoder
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.temporal import parse_with
from pyflink_on_spark.common.typeinfo import TypeInformation, Types

if TYPE_CHECKING:
    from typing import BinaryIO

    from pyflink_on_spark._runtime.contract.operator import OperatorContext


# What Hive writes with a percent sign in names of folders.
_PLAIN = " !$&()+,;<>@_`|~-."

METADATA = {
    "file.path": logical.STRING.with_nullable(False),
    "file.name": logical.STRING.with_nullable(False),
    "file.size": logical.BIGINT.with_nullable(False),
    "file.modification-time": logical.timestamp_ltz(3).with_nullable(False),
}
"""The metadata of a file, and their types."""

_READERS: dict[str, Callable[[str], object]] = {
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

    def with_most(self, most: int) -> WithPaths:
        """The same, where a line may have so many bytes."""
        return WithPaths(self._records.with_most(most))

    @property
    def produced_type(self) -> TypeInformation:
        """The type of the pairs."""
        return Types.PICKLED_BYTE_ARRAY()

    def is_splittable(self, path: str) -> bool:
        """True if the wrapped format can split the file."""
        return self._records.is_splittable(path)

    def read(self, split: FileSplit) -> Iterator[Bundle]:
        """Yield the pairs."""
        for bundle in self._records.read(split):
            yield _paired(str(split.path), bundle)

    def resume(self, split: FileSplit, position: object) -> Iterator[tuple[Bundle, object]] | None:
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

    emits_immutable = True

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
        kinds = self._decoder.changes is not ChangeKinds.INSERT
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

    def _value(self, folders: dict[str, str], name: str, read: Callable[[Any], object]) -> object:
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
        keyed: whether elements come in pairs with keys, which go.
    """

    emits_immutable = True

    def __init__(
        self,
        encoder: Encoder,
        partition: tuple[tuple[str, Program], ...],
        columns: tuple[int, ...],
        default: str,
        changelog: bool,
        keyed: bool = False,
    ) -> None:
        self._encoder, self._partition = encoder, partition
        self._columns, self._default = columns, default
        self._changelog, self._keyed = changelog, keyed
        self._takes_kinds = encoder.accepts is not ChangeKinds.INSERT

    def open(self, context: OperatorContext) -> None:
        """Load the format."""
        self._encode = self._encoder.load()
        self._writers = [
            (name, program.load(context).function) for name, program in self._partition
        ]

    def process(self, elements: Iterator[Any]) -> Iterator[object]:
        """Yield the pairs."""
        folder, columns = "", self._columns
        if self._keyed:
            elements = (element for _, element in elements)
        if self._takes_kinds and not self._changelog:
            elements = zip(repeat(INSERT), elements)

        def rows() -> Iterator[object]:
            nonlocal folder
            for row in elements:
                folder = self._folder(row)
                yield tuple([row[index] for index in columns])

        def changes() -> Iterator[object]:
            nonlocal folder
            for kind, row in elements:
                folder = self._folder(row)
                yield kind, tuple([row[index] for index in columns])

        for message in self._encode(changes() if self._takes_kinds else rows()):
            yield folder, message

    def _folder(self, row: object) -> str:
        parts = []
        for name, write in self._writers:
            text = write(row)
            parts.append(f"{name}={quote(text or self._default, safe=_PLAIN)}")
        return "/".join(parts)


class PartitionBuckets(BasePathBuckets):
    """The first of each pair is its folder."""

    def of_element(self) -> Callable[[Any], str]:
        """Return the function from an element to its folder."""
        return lambda pair: str(pair[0])


class OfPairs(OutputFileFormat):
    """Writes the second of each pair in another format.

    Args:
        messages: the other format.
    """

    def __init__(self, messages: OutputFileFormat) -> None:
        self._messages = messages

    def check_input(self, type_info: TypeInformation | None) -> None:
        """Do nothing: the table has checked the columns."""

    def converter(self) -> Callable[[Any], object]:
        """Return the conversion of a pair to its message."""
        convert = self._messages.converter()
        return lambda pair: convert(pair[1])

    def open(self, file: BinaryIO) -> OutputFileWriter:
        """Begin a file."""
        return self._messages.open(file)


_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - a local time
_TIME = re.compile(
    r"(-?\d+)-(-?\d\d?)-(-?\d\d?)"
    r"(?: (-?\d\d?):(-?\d\d?):(-?\d\d?)(?:\.(\d{1,9}))?)?"
)


@dataclass(frozen=True)
class PartitionTime:
    """Reads times from the values of partition columns.

    Args:
        pattern: the text of a time, with ``$name`` for the value of a column; None for the value
            of the first column.
        formatter: how the time is written, in the letters of Java; None for dates and timestamps
            as SQL has them.
        zone_id: the time zone of the times, by its name in Java.
    """

    pattern: str | None
    formatter: str | None
    zone_id: str

    def read(self, partition: str) -> int:
        """Return the time of a partition, in ms since 1970.

        Args:
            partition: its folder below that of the table, ``day=2024-01-01/hour=10`` for example.

        Raises:
            ValueError: its values are no time.
        """
        pairs = [part.split("=", 1) for part in partition.split("/")]
        text = self._text([(name, unquote(value)) for name, value in pairs])
        moment = _EPOCH + datetime.timedelta(microseconds=self._micros(text))
        _, zone = parse_time_zone(self.zone_id)
        return round(moment.replace(tzinfo=zone).timestamp() * 1000)

    def _text(self, values: Sequence[tuple[str, str]]) -> str:
        if self.pattern is None:
            return values[0][1]
        text = self.pattern
        for name, value in values:
            text = text.replace(f"${name}", value)
        return text

    def _micros(self, text: str) -> int:
        found = _lenient(text) if self.formatter is None else parse_with(text, self.formatter)
        if found is None:
            raise ValueError(f"Text '{text}' could not be parsed as the time of a partition")
        return found


def _lenient(text: str) -> int | None:
    """Read a date or a timestamp, in which a month or an hour may exceed the last one."""
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    years, months = divmod(month - 1, 12)
    moment = datetime.datetime(year + years, months + 1, 1)  # noqa: DTZ001
    moment += datetime.timedelta(days=day - 1, hours=hour, minutes=minute, seconds=second)
    fraction = int((found[7] or "").ljust(6, "0")[:6])
    return (moment - _EPOCH) // datetime.timedelta(microseconds=1) + fraction


class TableFileSink(PartFileSink):
    """Writes rows in a bulk format, or messages as lines.

    Elements are rows or messages; of a partitioned table pairs of the folder and one of these.
    """

    def _form(self) -> tuple[Callable[[Any], object], object, type[BucketWriter]]:
        if self._config.bulk is not None:
            return super()._form()
        partitioned = isinstance(self._config.buckets, PartitionBuckets)
        return _second if partitioned else _same, MessageEncoder(self._charset), BucketWriter


class OverwritingSink(TableFileSink):
    """Replaces the table's files when the job commits. Only for jobs that commit once.

    Of a partitioned table the partitions that the job has written are replaced, else all files.
    """

    def commit(self, committables: list[PendingFile]) -> None:
        """Remove the old files, then make the new ones visible."""
        self._remove_others(committables)
        super().commit(committables)

    def commit_again(self, committables: list[PendingFile]) -> None:
        """Remove the remaining old files, then make the new ones visible."""
        self._remove_others(committables)
        super().commit_again(committables)

    def _remove_others(self, committables: list[PendingFile]) -> None:
        if isinstance(self._config.buckets, PartitionBuckets):
            folders = sorted({file.bucket for file in committables})
        else:
            folders = [self._place.path]
        kept = {file.path for file in committables}
        for folder in folders:
            if not self._files.exists(folder):
                continue
            for found in list(self._files.visible_files(folder)):
                if found.path not in kept:
                    self._files.remove(found.path)


class MessageEncoder(LineEncoder):
    """Encodes messages, which are texts or bytes, as lines."""

    def encode(self, texts: Sequence[Any]) -> bytes:
        """Return the lines of messages, joined."""
        try:
            return super().encode(texts)
        except TypeError:  # bytes
            return b"".join(self.encode_each(texts))

    def encode_each(self, texts: Sequence[Any]) -> list[bytes]:
        """Return the line of each message."""
        encode = self._charset.encode
        return [(encode(text) if type(text) is str else text) + b"\n" for text in texts]


def _same(element: object) -> object:
    return element


def _second(pair: Any) -> object:
    return pair[1]


@dataclass(frozen=True)
class Reached:
    """The time of a writer at a checkpoint: a committable.

    Args:
        watermark: event time in ms.
        now: processing time in ms.
    """

    watermark: int
    now: int


@dataclass(frozen=True)
class Partition:
    """A partition that a writer has begun or finished: a committable.

    Args:
        name: its folder below that of the table.
        folder: the path of its folder.
        begun: the processing time when the writer has begun it, in ms.
    """

    name: str
    folder: str
    begun: int


class CommitTrigger(ABC):
    """Says when a partition is complete. Picklable."""

    @abstractmethod
    def is_due(self, name: str, begun: int, reached: Reached) -> bool:
        """True for a complete partition.

        Args:
            name: its folder below that of the table.
            begun: the processing time when it was begun, in ms.
            reached: how far time is.
        """


@dataclass(frozen=True)
class ProcessingTimeTrigger(CommitTrigger):
    """A partition is complete some time after it was begun; without a delay at each checkpoint.

    Args:
        delay: in ms.
    """

    delay: int

    def is_due(self, name: str, begun: int, reached: Reached) -> bool:
        return self.delay == 0 or reached.now > begun + self.delay


@dataclass(frozen=True)
class PartitionTimeTrigger(CommitTrigger):
    """A partition is complete when the watermark has passed its time and a delay.

    Args:
        delay: in ms.
        time: reads the time of a partition.
    """

    delay: int
    time: PartitionTime

    def is_due(self, name: str, begun: int, reached: Reached) -> bool:
        return reached.watermark > self.time.read(name) + self.delay


@dataclass(frozen=True)
class PartitionedConfig(FileSinkConfig):
    """The settings of a sink that commits partitions.

    Args:
        trigger: says when a partition is complete.
        marker: the name of the file that a complete partition gets.
    """

    trigger: CommitTrigger = field(default_factory=lambda: ProcessingTimeTrigger(0))
    marker: str = "_SUCCESS"


class PartitionWriter(FileSinkWriter):
    """Finishes the part files of partitions that are complete, and reports partitions."""

    _config: PartitionedConfig

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._watermark = MIN_TIMESTAMP
        self._begun: dict[str, int] = {}
        """When partitions were begun whose part files may still be open."""
        self._unreported: set[str] = set()

    def advance_watermark(self, watermark: int) -> None:
        self._watermark = watermark

    def restore(self, snapshots: Sequence[InProgressFile]) -> None:
        super().restore(snapshots)
        for saved in snapshots:
            self._begun[saved.bucket] = min(saved.created, self._begun[saved.bucket])

    def prepare_checkpoint(self, checkpoint_id: int) -> list[Any]:
        reached = Reached(self._watermark, self._clock.now())
        begun = dict(self._begun)
        for name, since in begun.items():
            if self._config.trigger.is_due(name, since, reached):
                self._buckets[name].roll()
        return [*super().prepare_checkpoint(checkpoint_id), *self._reported(begun), reached]

    def prepare_commit(self) -> list[Any]:
        begun = dict(self._begun)
        reached = Reached(self._watermark, self._clock.now())
        return [*super().prepare_commit(), *self._reported(begun), reached]

    def _reported(self, begun: dict[str, int]) -> list[Partition]:
        """Return the partitions that are new, and those without an open part file by now."""
        finished = {name for name in begun if self._is_idle(name)}
        for name in finished:
            del self._begun[name]
        names = sorted(self._unreported | finished)
        self._unreported.clear()
        return [Partition(name, self._folder(name), begun[name]) for name in names]

    def _is_idle(self, name: str) -> bool:
        bucket = self._buckets.get(name)
        return bucket is None or bucket.idle

    def _bucket(self, name: str) -> Any:
        if name not in self._begun:
            self._begun[name] = self._clock.now()
            self._unreported.add(name)
        return super()._bucket(name)


class PartitionSink(TableFileSink):
    """Commits partitions after their part files."""

    writer_class = PartitionWriter
    holds_again = True
    _config: PartitionedConfig

    def hold_back(self, committables: list[Any], checkpoint_id: int) -> tuple[list[Any], list[Any]]:
        ready, held = super().hold_back(_files(committables), checkpoint_id)
        moments, partitions = _moments(committables), _partitions(committables)
        due = self._due(partitions, moments)
        now = [*ready, *moments, *(partitions[name] for name in due)]
        return now, [*held, *(partitions[name] for name in partitions.keys() - due)]

    def _due(self, partitions: dict[str, Partition], moments: list[Reached]) -> set[str]:
        """Return the partitions that are complete: all of them if the input has ended."""
        if not moments:
            return set()
        watermark = min(moment.watermark for moment in moments)
        if watermark >= MAX_WATERMARK:
            return set(partitions)
        reached = Reached(watermark, max(moment.now for moment in moments))
        is_due = self._config.trigger.is_due
        return {name for name, each in partitions.items() if is_due(name, each.begun, reached)}

    def keep(self, committables: list[Any]) -> None:
        super().keep([each for each in committables if not isinstance(each, Partition | Reached)])

    def commit(self, committables: list[Any]) -> None:
        super().commit(_files(committables))
        self._mark(committables)

    def commit_again(self, committables: list[Any]) -> None:
        super().commit_again(_files(committables))
        self._mark(committables)

    def abort(self, committables: list[Any]) -> None:
        super().abort(_files(committables))

    def _mark(self, committables: list[object]) -> None:
        """Mark partitions as complete, but not all of a job that stops before its input ends."""
        partitions, moments = _partitions(committables), _moments(committables)
        due = self._due(partitions, moments) if moments else partitions.keys()
        for name in sorted(due):
            self._put_marker(partitions[name].folder, self._config.marker)


def _moments(committables: Iterable[object]) -> list[Reached]:
    return [each for each in committables if isinstance(each, Reached)]


def _files(committables: Iterable[object]) -> list[PendingFile]:
    return [each for each in committables if isinstance(each, PendingFile)]


def _partitions(committables: Iterable[object]) -> dict[str, Partition]:
    """Return partitions by name; of those that several writers report the one begun first."""
    found: dict[str, Partition] = {}
    for each in committables:
        if isinstance(each, Partition):
            known = found.setdefault(each.name, each)
            if each.begun < known.begun:
                found[each.name] = each
    return found
