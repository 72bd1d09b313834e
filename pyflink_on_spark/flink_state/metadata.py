"""The ``_metadata`` of Flink's checkpoints and savepoints, versions 3 to 6, and texts of types."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pyflink_on_spark._runtime.coders import DataInput
from pyflink_on_spark.common.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    ExternalTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    Types,
)

MAGIC = b"\x49\x60\x67\x2d"
VERSIONS = range(3, 7)
_MASTER_STATE = -915728746
_ROCKSDB_FILE = re.compile(r"\d+\.sst|CURRENT|(MANIFEST|OPTIONS)-\d+")
_MODES = ("split", "union", "broadcast")
_NAME = re.compile(r"\w+")
_SIMPLE: dict[str, Callable[[], object]] = {
    **{kind.value: partial(BasicTypeInfo, kind) for kind in BasicType},
    "PickledByteArrayTypeInfo": Types.PICKLED_BYTE_ARRAY,
    "DateTypeInfo": Types.SQL_DATE,
    "TimeTypeInfo": Types.SQL_TIME,
    "TimestampTypeInfo": Types.SQL_TIMESTAMP,
}
_OF_ONE: dict[str, Callable[[Any], object]] = {
    "PrimitiveArrayTypeInfo": PrimitiveArrayTypeInfo,
    "BasicArrayTypeInfo": BasicArrayTypeInfo,
    "ObjectArrayTypeInfo": ObjectArrayTypeInfo,
    "ListTypeInfo": ListTypeInfo,
    "ExternalTypeInfo": ExternalTypeInfo,
}


class Format(enum.Enum):
    """The format of keyed state's entries."""

    CANONICAL = "canonical"
    HASHMAP = "native, of the hashmap backend"


@dataclass(frozen=True)
class InlineFile:
    """State that is small enough to be in ``_metadata`` itself.

    Args:
        content: the bytes.
    """

    content: bytes

    @property
    def size(self) -> int:
        """In bytes."""
        return len(self.content)


@dataclass(frozen=True)
class FileReference:
    """State in a file, or in a part of one.

    Args:
        path: of the file; relative to the folder of ``_metadata`` if it has no scheme.
        size: in bytes.
        offset: where it begins in the file.
        relative: whether the path is relative.
    """

    path: str
    size: int
    offset: int = 0
    relative: bool = False


StateBytes = InlineFile | FileReference


@dataclass(frozen=True)
class KeyGroupsHandle:
    """The keyed state of a subtask.

    Args:
        first: its first key group.
        offsets: where the key groups begin; 0 for one without state.
        file: the bytes.
        format: how the entries are written.
    """

    first: int
    offsets: tuple[int, ...]
    file: StateBytes
    format: Format

    @property
    def count(self) -> int:
        """The number of its key groups."""
        return len(self.offsets)


@dataclass(frozen=True)
class RocksDbHandle:
    """The keyed state of a subtask in files of RocksDB.

    Args:
        first: its first key group.
        count: the number of its key groups.
        head: describes the states.
        files: of the database, by name.
    """

    first: int
    count: int
    head: StateBytes
    files: Mapping[str, StateBytes]


KeyedHandle = KeyGroupsHandle | RocksDbHandle


@dataclass(frozen=True)
class ListHandle:
    """State of a subtask that belongs to no key.

    Args:
        lists: by the name of each state: how it is redistributed (``split``, ``union`` or
            ``broadcast``), and where its elements begin.
        file: the bytes.
    """

    lists: Mapping[str, tuple[str, tuple[int, ...]]]
    file: StateBytes


@dataclass(frozen=True)
class SubtaskState:
    """The state of an operator in one subtask.

    Args:
        managed: state without keys.
        raw: state without keys that the operator writes in a format of its own.
        keyed: keyed state.
        raw_keyed: keyed state in a format of the operator's own.
    """

    managed: ListHandle | None = None
    raw: ListHandle | None = None
    keyed: KeyedHandle | None = None
    raw_keyed: KeyedHandle | None = None


@dataclass(frozen=True)
class FlinkOperator:
    """The state of an operator.

    Args:
        hash: its id, as 32 hexadecimal digits.
        name: the operator's name; None if the version does not have it.
        uid: what the user gave it; None if nothing, or if the version does not have it.
        parallelism: the number of subtasks.
        max_parallelism: the number of key groups.
        coordinator: the state of its coordinator, for example of a source's enumerator.
        subtasks: by index.
        finished: whether all subtasks had finished.
    """

    hash: str
    name: str | None
    uid: str | None
    parallelism: int
    max_parallelism: int
    coordinator: bytes | None = None
    subtasks: Mapping[int, SubtaskState] = field(default_factory=dict)
    finished: bool = False


@dataclass(frozen=True)
class FlinkMetadata:
    """The content of ``_metadata``.

    Args:
        version: of the format.
        checkpoint_id: its number.
        operators: in the order in which they are written.
    """

    version: int
    checkpoint_id: int
    operators: tuple[FlinkOperator, ...]


def parse_metadata(content: bytes, where: str) -> FlinkMetadata:
    """Read ``_metadata``.

    What follows the operators in newer versions is an object of Java, which is not read.

    Args:
        content: of the file.
        where: its name, for errors.

    Raises:
        CheckpointError: it is damaged, or has something that is not known.
    """
    data = DataInput(content, where)
    if data.take(4) != MAGIC:
        raise data.refused("this is no checkpoint of Flink", 0)
    version = data.integer()
    if version not in VERSIONS:
        raise data.refused(
            f"metadata of version {version} cannot be read, only those of versions "
            f"{VERSIONS[0]} to {VERSIONS[-1]}",
            4,
        )
    checkpoint_id = data.long()
    if checkpoint_id < 0:
        raise data.refused(f"the number {checkpoint_id} of the checkpoint is negative", 8)
    for _ in range(data.count("states of the coordinator", 8)):
        _skip_master_state(data)
    operators = tuple(_operator(data, version) for _ in range(data.count("operators", 28)))
    return FlinkMetadata(version, checkpoint_id, operators)


def _skip_master_state(data: DataInput) -> None:
    begin = data.position
    if data.integer() != _MASTER_STATE:
        raise data.refused("the state of the coordinator is damaged", begin)
    data.take(data.integer())


def _operator(data: DataInput, version: int) -> FlinkOperator:
    name = uid = None
    if version >= 5:
        name, uid = data.utf() or None, data.utf() or None
    identity = data.take(16)
    begin = data.position
    parallelism, maximum = data.integer(), data.integer()
    if not 0 < parallelism <= maximum <= 1 << 15:
        raise data.refused(
            f"an operator cannot have a parallelism of {parallelism} and {maximum} key groups",
            begin,
        )
    coordinator = _coordinator(data)
    begin = data.position
    number = data.integer()
    if number > parallelism:
        raise data.refused(f"an operator cannot have {number} states of subtasks", begin)
    subtasks: dict[int, SubtaskState] = {}
    for _ in range(number):
        begin = data.position
        index = data.integer()
        if index < 0:
            subtasks[-index - 1] = SubtaskState()
        else:
            subtasks[index] = _subtask(data)
        if not max(subtasks) < parallelism:
            raise data.refused(f"there is no subtask {index} of {parallelism}", begin)
    return FlinkOperator(
        identity.hex(), name, uid, parallelism, maximum, coordinator, subtasks, number < 0
    )


def _coordinator(data: DataInput) -> bytes | None:
    begin = data.position
    found = _file(data)
    if found is None or isinstance(found, InlineFile):
        return None if found is None else found.content
    raise data.refused("the state of a coordinator is in a file", begin)


def _subtask(data: DataInput) -> SubtaskState:
    managed = _lists(data) if data.integer() else None
    raw = _lists(data) if data.integer() else None
    keyed, raw_keyed = _keyed(data), _keyed(data)
    for what in ("received", "to be sent"):
        begin = data.position
        if data.integer():
            raise data.refused(
                f"this is an unaligned checkpoint with elements that were {what}: take a "
                "savepoint, which has none",
                begin,
            )
    return SubtaskState(managed, raw, keyed, raw_keyed)


def _lists(data: DataInput) -> ListHandle | None:
    begin = data.position
    kind = data.unsigned_byte()
    if kind == 0:
        return None
    if kind not in (4, 17):
        raise data.refused(f"a handle of kind {kind} for state without keys is not known", begin)
    lists = {}
    for _ in range(data.count("states", 7)):
        name = data.utf()
        begin = data.position
        mode = data.byte()
        if not 0 <= mode < len(_MODES):
            raise data.refused(f"the way {mode} to redistribute a state is not known", begin)
        number = data.count("elements", 8)
        lists[name] = _MODES[mode], tuple(data.long() for _ in range(number))
    if kind == 17:
        data.utf(), data.utf(), data.boolean()  # folders of merged files
    return ListHandle(lists, _required(data))


def _keyed(data: DataInput) -> KeyedHandle | None:
    begin = data.position
    kind = data.unsigned_byte()
    if kind == 0:
        return None
    if kind == 5:
        raise data.refused(
            "this is an incremental checkpoint of RocksDB of an old version of Flink: take a "
            "canonical savepoint (flink savepoint --type canonical)",
            begin,
        )
    if kind == 11:
        return _rocksdb(data)
    if kind in (8, 9, 10, 13, 14):
        raise data.refused(
            "this is a checkpoint with a changelog, which cannot be read: take a canonical "
            "savepoint (flink savepoint --type canonical)",
            begin,
        )
    if kind not in (3, 7, 12):
        raise data.refused(f"a handle of kind {kind} for keyed state is not known", begin)
    first = data.integer()
    offsets = tuple(data.long() for _ in range(data.count("key groups", 8)))
    file = _required(data)
    if kind == 12:
        data.utf()
    return KeyGroupsHandle(first, offsets, file, Format.CANONICAL if kind == 7 else Format.HASHMAP)


def _rocksdb(data: DataInput) -> RocksDbHandle:
    data.long(), data.utf()  # the number of the checkpoint, and the id of the backend
    begin = data.position
    first, count = data.integer(), data.integer()
    if first < 0 or not 0 <= count <= 1 << 15:
        raise data.refused("the key groups of RocksDB's files are damaged", begin)
    data.long()  # the size of what is new
    head = _required(data)
    files: dict[str, StateBytes] = {}
    for _ in ("shared", "private"):
        for _ in range(data.count("files", 3)):
            begin = data.position
            name, file = data.utf().rpartition("/")[2], _required(data)
            if _ROCKSDB_FILE.fullmatch(name) is None or name in files:
                raise data.refused(f"the file {name!r} is not one of RocksDB", begin)
            if not name.startswith("OPTIONS"):
                files[name] = file
    data.utf()
    return RocksDbHandle(first, count, head, files)


def _required(data: DataInput) -> StateBytes:
    begin = data.position
    file = _file(data)
    if file is None:
        raise data.refused("the state of an operator is missing", begin)
    return file


def _file(data: DataInput) -> StateBytes | None:
    begin = data.position
    kind = data.unsigned_byte()
    if kind == 0:
        return None
    if kind == 1:
        data.utf()
        return InlineFile(data.take(data.integer()))
    if kind == 2:
        size = data.long()
        return FileReference(data.utf(), size)
    if kind == 6:
        path = data.utf()
        return FileReference(path, data.long(), relative=True)
    if kind == 15:
        offset, size, _ = data.long(), data.long(), data.integer()
        path, _ = data.utf(), data.utf()
        return FileReference(path, size, offset)
    if kind == 16:
        return InlineFile(b"")
    raise data.refused(f"a handle of kind {kind} for bytes is not known", begin)


def type_of_text(text: str) -> object:
    """Make the type information whose text is ``text``.

    Args:
        text: as ``str`` of type information.

    Raises:
        ValueError: the text is that of another type, or names of fields make it ambiguous.
    """
    reader = _Reader(text)
    try:
        found = reader.type()
    except (IndexError, RecursionError):
        found = None
    if found is None or reader.position != len(text) or str(found) != text:
        raise ValueError(f"the type {text!r} is not known")
    return found


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self.position = 0

    def type(self) -> object:
        """Read a type, or return None."""
        name = _NAME.match(self._text, self.position)
        if name is None:
            return None
        self.position = name.end()
        found = name[0]
        if found in _SIMPLE:
            return _SIMPLE[found]()
        if found in _OF_ONE:
            parts = self._parts("<", ">")
            return _OF_ONE[found](parts[0]) if len(parts) == 1 else None
        if found == "MapTypeInfo":
            parts = self._parts("<", ">")
            return MapTypeInfo(*parts) if len(parts) == 2 else None
        if found == "TupleTypeInfo":
            return TupleTypeInfo(self._parts("(", ")"))
        return self._row() if found == "RowTypeInfo" else None

    def _parts(self, begin: str, end: str) -> list[Any]:
        parts: list[object] = []
        separator = begin
        while self._passed(separator):
            part = self.type()
            if part is None:
                return []
            parts.append(part)
            if self._passed(end):
                return parts
            separator = ", "
        return []

    def _row(self) -> object:
        names: list[str] = []
        kinds: list[Any] = []
        separator = "("
        while self._passed(separator):
            begin = self.position
            kind = self._field()
            colon = begin - 1
            while kind is None:
                colon = self._text.find(": ", colon + 1)
                if colon < 0:
                    return None
                self.position = colon + 2
                kind = self._field()
            if colon >= begin:
                names.append(self._text[begin:colon])
            kinds.append(kind)
            if self._passed(")"):
                return RowTypeInfo(kinds, names or None)
            separator = ", "
        return None

    def _field(self) -> object:
        """Read a type that ends where a field ends, or return None."""
        kind = self.type()
        return kind if self._text[self.position : self.position + 1] in (",", ")") else None

    def _passed(self, text: str) -> bool:
        found = self._text.startswith(text, self.position)
        self.position += len(text) if found else 0
        return found
