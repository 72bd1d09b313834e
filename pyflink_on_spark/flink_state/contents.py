"""A checkpoint or savepoint of Flink as data."""

from __future__ import annotations

import io
import itertools
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._compat.optional_package import optional_package
from pyflink_on_spark._runtime.checkpoints.checkpoint import METADATA, find_checkpoint
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark._runtime.coders import DataInput
from pyflink_on_spark.flink_state.keyed_state import (
    ONE_BYTE_GROUPS,
    FlinkEntry,
    KeyedHeader,
    ListsHeader,
    StateHeader,
    entries_of_group,
    read_keyed_header,
    read_lists_header,
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
from pyflink_on_spark.flink_state.serializers import Serializer
from pyflink_on_spark.flink_state.snappy import decompressed

ElementsOfState = tuple[int, StateHeader, str, list[Any]]
"""The subtask, the state, how it is redistributed, and the elements of a state without keys."""


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

    def lists(self, operator: FlinkOperator) -> Iterator[ElementsOfState]:
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
    ) -> Iterator[tuple[StateHeader, str, list[object]]]:
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
) -> list[object]:
    read = state.serializers["value"].read
    elements: list[object] = []
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


_OPTIONS = """[Version]
  rocksdb_version=8.10.0
  options_file_version=1.1
[DBOptions]
[CFOptions "default"]
  merge_operator={id=StringAppendTESTOperator;delimiter=,;}
[TableOptions/BlockBasedTable "default"]
"""
"""The setting of Flink that matters to readers: pieces of lists are put together with commas.

The options in the savepoint itself are not used: they could name anything.
"""
_END = b"\xff\xff"
_LAST_OF_STATE = 0x80

Open = Callable[[StateBytes], Any]


class RocksDbStates:
    """The states of one subtask in a copy of its database.

    Args:
        database: opened with ``rocksdict``.
        names: of the states, in the order of their numbers.
        width: of the number of the key group before each key, in bytes.
        where: what it is, for errors.
    """

    def __init__(self, database: Any, names: tuple[str, ...], width: int, where: str) -> None:
        self._families = [database.get_column_family(name) for name in names]
        self._width, self._where = width, where

    def canonical(self, group: int) -> bytes:
        """Return a key group as a canonical savepoint has it; b"" if there is nothing in it.

        Raises:
            CheckpointError: RocksDB finds that its files are damaged.
        """
        try:
            return self._canonical(group)
        except Exception as error:  # RocksDB's errors have no class of their own
            raise _unreadable(self._where, error) from error

    def _canonical(self, group: int) -> bytes:
        prefix = group.to_bytes(self._width, "big")
        last = bytes([prefix[0] | _LAST_OF_STATE]) + prefix[1:]
        parts: list[bytes] = []
        for number, family in enumerate(self._families):
            pairs = list(_pairs(family, prefix))
            if not pairs:
                continue
            parts.append(number.to_bytes(2, "big"))
            *others, (key, value) = pairs
            parts += [_sized(each) + _sized(content) for each, content in others]
            parts.append(_sized(last + key[self._width :]) + _sized(value))
        return b"".join([*parts, _END]) if parts else b""


def _pairs(family: Any, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
    found = family.iter()
    found.seek(prefix)
    while found.valid() and (key := found.key()).startswith(prefix):
        yield key, found.value()
        found.next()
    found.status()


def _sized(content: bytes) -> bytes:
    return len(content).to_bytes(4, "big") + content


@contextmanager
def opened(
    handle: RocksDbHandle, open_file: Open, names: tuple[str, ...], width: int, where: str
) -> Iterator[RocksDbStates]:
    """Copy a database to a temporary folder, and open it there.

    Args:
        handle: the files.
        open_file: opens a file of the savepoint; a context manager.
        names: of the states.
        width: of the number of the key group before each key, in bytes.
        where: what it is, for errors.

    Raises:
        CheckpointError: RocksDB cannot read the files.
        ModuleNotFoundError: there is no package that reads them.
    """
    rocksdict = optional_package(
        "rocksdict", "rocksdict", "Native savepoints of RocksDB (canonical ones do not)", "rocksdb"
    )
    with tempfile.TemporaryDirectory(prefix="pyflink-on-spark-rocksdb-") as place:
        database, options = Path(place, "database"), Path(place, "options")
        database.mkdir()
        options.mkdir()
        (options / "OPTIONS-000001").write_text(_OPTIONS)
        for name, file in handle.files.items():
            with open_file(file) as source, (database / name).open("wb") as target:
                _copy(source, target)
        try:
            _, kinds = rocksdict.Options.load_latest(str(options))
            found = rocksdict.Rdict.list_cf(str(database))
            opened_database = rocksdict.Rdict(
                str(database),
                kinds["default"],
                column_families=dict.fromkeys(found, kinds["default"]),
                access_type=rocksdict.AccessType.read_only(),
            )
        except Exception as error:
            raise _unreadable(where, error) from error
        try:
            missing = [name for name in names if name not in found]
            if missing:
                raise CheckpointError(
                    f"{where}: the state {missing[0]!r} is not in RocksDB's files"
                )
            yield RocksDbStates(opened_database, names, width, where)
        finally:
            opened_database.close()


def _unreadable(where: str, error: Exception) -> CheckpointError:
    return CheckpointError(f"{where}: RocksDB cannot read its files: {error}")


def _copy(source: BinaryIO, target: BinaryIO) -> None:
    shutil.copyfileobj(source, target, 1 << 20)
