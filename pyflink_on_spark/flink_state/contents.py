"""A checkpoint or savepoint of Flink as data."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, BinaryIO

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.checkpoint import METADATA, find_checkpoint
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark._runtime.moved_in.data_input import DataInput
from pyflink_on_spark.flink_state.keyed_state import (
    ONE_BYTE_GROUPS,
    FlinkEntry,
    entries_of_group,
)
from pyflink_on_spark.flink_state.metadata import (
    MAGIC,
    FlinkMetadata,
    FlinkOperator,
    Format,
    InlineFile,
    KeyedHandle,
    KeyGroupsHandle,
    ListHandle,
    RocksDbHandle,
    StateBytes,
    parse_metadata,
)
from pyflink_on_spark.flink_state.rocksdb_files import opened
from pyflink_on_spark.flink_state.serializers import Serializer
from pyflink_on_spark.flink_state.snappy import decompressed
from pyflink_on_spark.flink_state.state_headers import (
    KeyedHeader,
    ListsHeader,
    StateHeader,
    read_keyed_header,
    read_lists_header,
)


def is_of_flink(path: str, configuration: Mapping[str, str] | None = None) -> bool:
    """True for a checkpoint or savepoint that Flink has written.

    Args:
        path: its folder, or its ``_metadata``.
        configuration: says how file systems are reached.
    """
    try:
        with find_checkpoint(path, configuration).open(METADATA) as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


class FlinkCheckpoint:
    """A checkpoint or savepoint that Flink has written.

    Nothing of it is executed: neither objects of Java nor pickles are loaded.

    Args:
        path: its folder, or its ``_metadata``.
        configuration: says how file systems are reached.

    Raises:
        CheckpointError: it is not there, damaged, or has something that is not known.

    Example:
        ::

            from pyflink_on_spark.flink_state import FlinkCheckpoint

            checkpoint = FlinkCheckpoint("file:///savepoints/savepoint-1a2b3c-0123456789ab")
            for operator in checkpoint.metadata.operators:
                print(operator.uid, operator.name, operator.hash)
                for group, entry in checkpoint.entries(operator):
                    print(group, entry.state.name, entry.key, entry.value)
    """

    def __init__(self, path: str, configuration: Mapping[str, str] | None = None) -> None:
        self._place = find_checkpoint(path, configuration)
        self._configuration = configuration
        where = f"{self._place.shown}/{METADATA}"
        try:
            content = self._place.read(METADATA)
        except OSError as error:
            raise CheckpointError(f"cannot read {where}: {error}") from error
        self.metadata: FlinkMetadata = parse_metadata(content, where)
        self.path = self._place.shown

    def operator(self, name: str) -> FlinkOperator:
        """Find an operator.

        Args:
            name: its uid, its hash, its name, or an unambiguous part of one of them.

        Raises:
            CheckpointError: there is no such operator, or more than one.
        """
        named = [(o, (o.uid or "", o.hash, o.name or "")) for o in self.metadata.operators]
        found = [operator for operator, names in named if name in names]
        found = found or [o for o, names in named if any(name in one for one in names)]
        if len(found) == 1:
            return found[0]
        known = ", ".join(shown(operator) for operator in found or self.metadata.operators)
        what = "more than one operator" if found else "no operator"
        raise CheckpointError(f"{name!r} is {what} of {self.path}: {known}")

    def keyed_states(self, operator: FlinkOperator) -> dict[str, StateHeader]:
        """Read the names, kinds and types of an operator's keyed states and timers.

        Raises:
            CheckpointError: they are damaged, or of a type that is not known.
        """
        found: dict[str, StateHeader] = {}
        for index, handle in self._keyed(operator):
            for state in self._header(handle, operator, index).states:
                if str(found.setdefault(state.name, state)) != str(state):
                    raise CheckpointError(
                        f"{self.path}: {_shown_part(operator, index)} has another state "
                        f"{state.name!r} than other subtasks"
                    )
        return found

    @staticmethod
    def has_state(operator: FlinkOperator) -> bool:
        """True if an operator has keyed state or is a source, even if there is nothing in it."""
        subtasks = operator.subtasks.values()
        return operator.coordinator is not None or any(state.keyed for state in subtasks)

    def key_type(self, operator: FlinkOperator) -> Serializer | None:
        """Read the type of an operator's keys; None if it has no keyed state.

        Raises:
            CheckpointError: it is damaged, or not known.
        """
        for index, handle in self._keyed(operator):
            return self._header(handle, operator, index).key
        return None

    def entries(self, operator: FlinkOperator) -> Iterator[tuple[int, FlinkEntry]]:
        """Iterate over the entries and timers of an operator, each with its key group.

        One key group is in memory at a time.

        Raises:
            CheckpointError: they are damaged, or of a type that is not known.
        """
        for group, entries in self.key_groups(operator):
            for entry in entries:
                yield group, entry

    def key_groups(self, operator: FlinkOperator) -> Iterator[tuple[int, Iterator[FlinkEntry]]]:
        """Iterate over the key groups of an operator that have state, each with its entries.

        Raises:
            CheckpointError: they are damaged, or of a type that is not known.
        """
        for index, handle in self._keyed(operator):
            header = self._header(handle, operator, index)
            if isinstance(handle, RocksDbHandle):
                yield from self._groups_of_rocksdb(handle, header, operator, index)
                continue
            with self._open(handle.file) as file:
                for group, begin, end in _places(handle):
                    file.seek(begin)
                    where = f"{_shown_part(operator, index)}, key group {group}"
                    data = DataInput(file.read(end - begin), f"{self.path}: {where}", begin)
                    yield (
                        group,
                        entries_of_group(
                            data, group, header, handle.format, operator.max_parallelism
                        ),
                    )

    def _groups_of_rocksdb(
        self, handle: RocksDbHandle, header: KeyedHeader, operator: FlinkOperator, index: int
    ) -> Iterator[tuple[int, Iterator[FlinkEntry]]]:
        names, width = tuple(state.name for state in header.states), 1
        if operator.max_parallelism > ONE_BYTE_GROUPS:
            width = 2
        where = f"{self.path}: {_shown_part(operator, index)}"
        plain = replace(header, compressed=False)
        with opened(handle, self._open, names, width, where) as states:
            for group in range(handle.first, handle.first + handle.count):
                content = states.canonical(group)
                if content:
                    data = DataInput(content, f"{where}, key group {group}")
                    yield (
                        group,
                        entries_of_group(
                            data, group, plain, Format.CANONICAL, operator.max_parallelism
                        ),
                    )

    def lists(self, operator: FlinkOperator) -> Iterator[tuple[int, StateHeader, str, list[Any]]]:
        """Iterate over the states of an operator that belong to no key.

        Yields:
            The subtask, the state, how it is redistributed (``split``, ``union`` or
            ``broadcast``), and its elements; of a broadcast state pairs of key and value.

        Raises:
            CheckpointError: they are damaged, or of a type that is not known.
        """
        for index in sorted(operator.subtasks):
            handle = operator.subtasks[index].managed
            if handle is not None and handle.lists:
                with self._open(handle.file) as file:
                    for found in self._lists(file.read(), handle, operator, index):
                        yield index, *found

    def _lists(
        self, content: bytes, handle: ListHandle, operator: FlinkOperator, index: int
    ) -> Iterator[tuple[StateHeader, str, list[Any]]]:
        where = f"{self.path}: {_shown_part(operator, index)}, state without keys"
        header = read_lists_header(DataInput(content, where))
        for name, (mode, offsets) in handle.lists.items():
            state = header.states.get(name)
            if state is None:
                raise CheckpointError(f"{where}: the state {name!r} is not described")
            yield state, mode, _elements(content, where, offsets, state, header)

    def _keyed(self, operator: FlinkOperator) -> Iterator[tuple[int, KeyedHandle]]:
        for index in sorted(operator.subtasks):
            handle = operator.subtasks[index].keyed
            if handle is not None:
                if handle.first + handle.count > operator.max_parallelism:
                    raise CheckpointError(
                        f"{self.path}: {_shown_part(operator, index)} has key groups that the "
                        "operator has not"
                    )
                yield index, handle

    def _header(self, handle: KeyedHandle, operator: FlinkOperator, index: int) -> KeyedHeader:
        if isinstance(handle, RocksDbHandle):
            source, size = handle.head, handle.head.size
        else:
            begins = [offset for offset in handle.offsets if offset > 0]
            source, size = handle.file, min(begins, default=handle.file.size)
        where = f"{self.path}: {_shown_part(operator, index)}, keyed state"
        with self._open(source) as file:
            return read_keyed_header(DataInput(file.read(size), where))

    @contextmanager
    def _open(self, file: StateBytes) -> Iterator[BinaryIO]:
        if isinstance(file, InlineFile):
            yield io.BytesIO(file.content)
            return
        where, name = self._place, file.path
        if not file.relative:
            parent, _, name = file.path.rpartition("/")
            where = folder(parent, self._configuration)
        try:
            with where.open(name) as stream:
                size = stream.seek(0, io.SEEK_END)
                if size < file.offset + file.size:
                    raise LostFileError(
                        f"{where.shown}/{name} has {size:,} bytes, and Flink has written "
                        f"{file.offset + file.size:,}"
                    )
                stream.seek(0)
                yield _Part(stream, file.offset, file.size) if file.offset else stream  # type: ignore[misc]
        except OSError as error:
            raise LostFileError(f"cannot read {where.shown}/{name}: {error}") from error


class LostFileError(CheckpointError):
    """Reports a file of a savepoint that is not there, or not all of it."""


class _Part(io.RawIOBase):
    """A part of a file that looks like a file."""

    def __init__(self, stream: BinaryIO, begin: int, size: int) -> None:
        self._stream, self._begin, self._size = stream, begin, size
        stream.seek(begin)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._stream.seek(self._begin + offset) - self._begin

    def read(self, size: int = -1) -> bytes:
        left = self._begin + self._size - self._stream.tell()
        return self._stream.read(left if size < 0 else min(size, left))


def _places(handle: KeyGroupsHandle) -> Iterator[tuple[int, int, int]]:
    """Yield each key group that has state, where it begins, and where it ends."""
    begins = sorted(
        (offset, handle.first + index) for index, offset in enumerate(handle.offsets) if offset > 0
    )
    begins.append((handle.file.size, -1))
    for (begin, group), (end, _) in itertools.pairwise(begins):
        yield group, begin, end


def _elements(
    content: bytes, where: str, offsets: tuple[int, ...], state: StateHeader, header: ListsHeader
) -> list[Any]:
    read = state.serializers["value"].read
    elements: list[Any] = []
    for begin in offsets:
        data = DataInput(content, where)
        data.position = begin
        if not 0 <= begin <= len(content):
            raise data.refused("a list is damaged")
        if header.compressed:
            data = decompressed(data)
        if state.kind == "broadcast":
            read_key = state.serializers["key"].read
            elements += [(read_key(data), read(data)) for _ in range(data.count("entries"))]
        else:
            elements.append(read(data))
    return elements


def shown(operator: FlinkOperator) -> str:
    """Name an operator for people."""
    return repr(operator.uid or operator.name or operator.hash)


def _shown_part(operator: FlinkOperator, index: int) -> str:
    return f"operator {shown(operator)}, subtask {index}"
