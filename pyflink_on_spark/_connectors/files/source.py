"""The source that reads files, and its reader."""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pyflink_on_spark._connectors.files.config import (
    Enumeration,
    FileSourceConfig,
    find_files,
    split_files,
)
from pyflink_on_spark._connectors.formats.file_format import FileSplit
from pyflink_on_spark._filesystem.file_system import is_pattern
from pyflink_on_spark._filesystem.location import Location, is_remote, locate
from pyflink_on_spark._options.own import MAX_RECORD_SIZE
from pyflink_on_spark._runtime.coders import DataInput, integers, longs, string, utf
from pyflink_on_spark._runtime.contract.connector import (
    AskingReader,
    FlinkSplits,
    OwnPositions,
    Source,
    SourceReader,
    SplitEnumerator,
    Versioned,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark._runtime.elements.bundle import Bundle
    from pyflink_on_spark.common.typeinfo import TypeInformation


_PENDING = b"\xef\xbe\xad\xde"
_NO_OFFSET = -1
_VERSION = 1


class SplitFileSource(Source):
    """Reads all files under some paths.

    A split is a range of a file. A position in a split is what the file format says.

    Args:
        config: the settings of the source.
        configuration: the configuration of the job, which may say how to reach file systems.
    """

    def __init__(
        self, config: FileSourceConfig, configuration: Mapping[str, str] | None = None
    ) -> None:
        self.config = config
        self._places = tuple(locate(path, configuration or {}) for path in config.paths)
        self.bounded = config.discovery_interval is None
        self.asked = not self.bounded

    @property
    def produced_type(self) -> TypeInformation:
        """The type of the records."""
        return self.config.file_format.produced_type

    def with_configuration(self, configuration: Mapping[str, str]) -> SplitFileSource:
        most = MAX_RECORD_SIZE.read(configuration)
        limited = replace(self.config, file_format=self.config.file_format.with_most(most))
        return SplitFileSource(limited, configuration)

    def splits(self, parallelism: int) -> list[FileSplit]:
        try:
            return self._splits(parallelism)
        except FileNotFoundError as error:
            if self.config.table is None:
                raise
            raise FileNotFoundError(f"{error} (the table {self.config.table})") from None

    def _splits(self, parallelism: int) -> list[FileSplit]:
        if not self.bounded:
            self._check_paths()
            return []  # readers ask the enumerator for them
        files = [file for file in find_files(self._places) if self.config.selects(file.path)]
        if self.config.enumeration is Enumeration.WHOLE_FILES:
            return [FileSplit(file.path) for file in files]
        is_splittable = self.config.file_format.is_splittable
        splittable = frozenset(file.path for file in files if is_splittable(file.path))
        return split_files(files, parallelism, splittable)

    def read(self, split: FileSplit, context: OperatorContext) -> Iterator[Bundle]:
        place = self._place(split.path)
        with _explaining_removal(split, place):
            yield from self.config.file_format.read(_with_input_path(place, split))

    def resume(
        self, split: FileSplit, position: object, context: OperatorContext
    ) -> Iterator[tuple[Bundle | None, object]]:
        place = self._place(split.path)
        with _explaining_removal(split, place):
            found = self.config.file_format.resume(_with_input_path(place, split), position)
            yield from super().resume(split, position, context) if found is None else found

    def reader(
        self, splits: Sequence[FileSplit], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        if self.asked and context.asks:
            return AskingReader(self, context)
        if self.asked:
            return MonitoringReader(self, restored, context)
        if restored is not None:
            kind = OwnPositions if isinstance(restored, OwnPositions) else list
            restored = kind(sorted(restored, key=self._place_in_order))
        return super().reader(splits, restored, context)

    def enumerator(
        self, restored: Sequence[object] | None, owns: Callable[[str], bool] | None = None
    ) -> FileEnumerator:
        """Return the enumerator of the files.

        Args:
            restored: the snapshots of the enumerator and of all readers, or None.
            owns: tells by its path whether a file is handed out; None for all.
        """
        interval = self.config.discovery_interval
        assert interval is not None
        return FileEnumerator(self._places, interval, restored or (), self.config.selects, owns)

    def positions_of_flink(self, found: FlinkSplits) -> list[object]:
        return positions_of_files(found, monitoring=not self.bounded)

    def positions_for_flink(self, positions: Sequence[Any]) -> tuple[int, bytes]:
        done: list[str] = []
        splits: list[bytes] = []
        for position in positions:
            if isinstance(position, FilesDone):
                done += position.paths
                continue
            split, inside, skip = position[:3]
            if not self.bounded:
                done.append(split.path)
            read = skip if inside is None else skip + self._records_before(split, inside)
            size = self._place(split.path).files.status(split.path).size
            splits.append(_written_split(split, len(splits), size, read))
        paths = [uri.encode() for uri in map(_uri, sorted(set(done)))]
        head = _PENDING + struct.pack("<3i", _VERSION, len(splits), len(paths))
        pieces = [struct.pack("<i", len(piece)) + piece for piece in (*splits, *paths)]
        return _VERSION, head + b"".join(pieces)

    def _records_before(self, split: FileSplit, position: Any) -> int:
        """Count the records of a split before a position, which Flink skips one by one."""

        def records_after(begin: object) -> int:
            found = self.config.file_format.resume(placed, begin)
            return sum(len(bundle.values) for bundle, _ in found or ())

        placed = _with_input_path(self._place(split.path), split)
        if self.config.file_format.resume(placed, position) is None:
            return int(position)
        return records_after(None) - records_after(position)

    def _place_in_order(self, unread: tuple[FileSplit, object, int]) -> tuple[int, str, int]:
        """Return the sort key that puts the splits of all subtasks into the order of discovery."""
        split, _, _ = unread
        places = range(len(self._places))
        place = next((index for index in places if self._places[index].has(split.path)), -1)
        return place, split.path, split.start

    def _check_paths(self) -> None:
        for place in self._places:
            if not is_pattern(place.path):
                next(place.files.visible_files(place.path), None)

    def _place(self, path: str) -> Location:
        """Return the location of a file. A file of a checkpoint may be under a former path."""
        found = next((place for place in self._places if place.has(path)), None)
        return found or locate(path)


def _with_input_path(place: Location, split: FileSplit) -> FileSplit:
    """Return a split with the path that a format opens."""
    path = place.files.input_path(split.path)
    return split if path is split.path else replace(split, path=path)


@contextlib.contextmanager
def _explaining_removal(split: FileSplit, place: Location) -> Iterator[None]:
    """Explain the error for a file that was removed after the files were listed."""
    try:
        yield
    except FileNotFoundError as error:
        if place.files.exists(split.path):
            raise
        raise FileNotFoundError(
            f"{split.path} was there when the files to read were listed, and is gone now: put it "
            "back, or begin without a checkpoint"
        ) from error


def positions_of_files(found: FlinkSplits, *, monitoring: bool) -> list[Any]:
    """Make the positions of the files that Flink has not read to their end.

    Args:
        found: what Flink has of the source.
        monitoring: whether our source looks for new files.

    Raises:
        ValueError: our source cannot continue from there.
    """
    pending, done = _pending(found.enumerator)
    if done and not monitoring:
        raise ValueError(
            "the source of Flink looks for new files, and that of the job does not: call "
            "monitor_continuously(), or leave the positions out"
        )
    unread = [
        (split, None, skip) for split, skip in (*map(_split, found.splits), *map(_split, pending))
    ]
    if not monitoring:
        return unread
    paths = tuple(sorted({locate(path).path for path in done} - {s.path for s, _, _ in unread}))
    numbered = sorted(unread, key=lambda item: (item[2] == 0, item[0].path))
    return [FilesDone(paths), *((*item, number) for number, item in enumerate(numbered))]


def _split(found: Versioned) -> tuple[FileSplit, int]:
    """Read a split, and how many of its records are read."""
    version, data = found
    if version != _VERSION:
        raise ValueError(f"file splits of version {version} are not known")
    data.utf()
    path = _path(data)
    start, length, _, size = data.long(), data.long(), data.long(), data.long()
    for _ in range(data.count("hosts", 2)):
        data.utf()
    offset, records = _NO_OFFSET, 0
    if data.boolean():
        offset, records = data.long(), data.long()
    if offset != _NO_OFFSET:
        raise ValueError(
            f"{path} is half read, at byte {offset} in Flink's own way: let the job read its "
            "files to their end before it stops"
        )
    end = None if start + length >= size else start + length
    return FileSplit(locate(path).path, start, end), records


def _written_split(split: FileSplit, number: int, size: int, records: int) -> bytes:
    """Write a split as Flink does: with its number, and how many of its records are read."""
    uri = urlsplit(_uri(split.path))
    host, port = uri.hostname, uri.port
    path = b"\1" + b"".join(map(_nullable, (uri.scheme, uri.username, host)))
    path += integers(-1 if port is None else port) + _nullable(uri.path) + b"\0\0"
    end = size if split.end is None else min(split.end, size)
    content = utf(f"{number:010}") + path + longs(split.start, end - split.start, 0, size)
    position = b"\1" + longs(_NO_OFFSET, records) if records else b"\0"
    return content + integers(0) + position


def _uri(path: str) -> str:
    return path if is_remote(path) else f"file:{path}"


def _nullable(text: str | None) -> bytes:
    return b"\0" if not text else b"\1" + string(text)


def _path(data: DataInput) -> str:
    """Read a path, which Flink writes as the parts of a URI."""
    if not data.boolean():
        raise ValueError("a file split has no path")
    scheme, user, host = _text(data), _text(data), _text(data)
    port = data.integer()
    path, _query, _fragment = _text(data), _text(data), _text(data)
    authority = "".join((f"{user}@" if user else "", host or "", f":{port}" if port >= 0 else ""))
    if not scheme:
        return path or ""
    return f"{scheme}://{authority}{path}" if authority else f"{scheme}:{path}"


def _text(data: DataInput) -> str | None:
    return data.string() if data.boolean() else None


def _pending(found: Versioned | None) -> tuple[list[Versioned], list[str]]:
    """Read the splits that no reader has, and the paths that are known."""
    if found is None:
        return [], []
    version, data = found
    if version != _VERSION or data.take(len(_PENDING)) != _PENDING:
        raise ValueError("the enumerator of the files is of a version that is not known")
    of_splits, splits, paths = (_little(data) for _ in range(3))
    pending = [(of_splits, DataInput(content, data.where)) for content in _pieces(data, splits)]
    return pending, [path.decode("utf-8") for path in _pieces(data, paths)]


def _pieces(data: DataInput, count: int) -> Iterator[bytes]:
    for _ in range(count):
        yield data.take(_little(data))


def _little(data: DataInput) -> int:
    return int.from_bytes(data.take(4), "little", signed=True)


@dataclass(frozen=True, slots=True)
class FilesDone:
    """The entry of a snapshot for the files that are not to be found again.

    Args:
        paths: the paths of the files.
    """

    paths: tuple[str, ...]


class FileEnumerator(SplitEnumerator):
    """Looks for new files under some paths, and hands them out in the order of their names.

    A file is identified by its path: later changes of the file are not noticed. Files of a later
    search come after those of an earlier one.

    Args:
        places: files, folders and patterns.
        interval: the time between two searches, in ms.
        restored: what a checkpoint has of the source: of the enumerator and of its readers.
        selects: tells whether a file is read, by its path.
        owns: tells whether a file is handed out here, by its path; None for all.
    """

    def __init__(
        self,
        places: Sequence[Location],
        interval: int,
        restored: Iterable[Any] = (),
        selects: Callable[[str], bool] = lambda path: True,
        owns: Callable[[str], bool] | None = None,
    ) -> None:
        super().__init__()
        self._places, self.interval, self._selects = places, interval, selects
        self._owns = owns or (lambda path: True)
        self._known: set[str] = set()
        unread: list[Any] = []
        unnumbered: list[Any] = []
        for item in restored:
            if isinstance(item, FilesDone):
                self._known.update(filter(self._owns, item.paths))
            elif self._owns(item[0].path):
                self._known.add(item[0].path)
                (unread if len(item) == 4 else unnumbered).append(item)
        # Readers that find files themselves have no common numbers.
        unnumbered.sort(key=lambda item: item[0].path)
        self.give_back([*unread, *((*item, n) for n, item in enumerate(unnumbered))])

    def search(self) -> list[FileSplit]:
        """Return the files that are new, in the order of their names."""
        found = sorted(set(new_files(self._places, self._known)))
        return [FileSplit(path) for path in found if self._selects(path) and self._owns(path)]

    def found(self, splits: Iterable[FileSplit]) -> None:
        splits = list(splits)
        self._known.update(split.path for split in splits)
        super().found(splits)

    def snapshot(self) -> list[object]:
        """Return the paths of the files that readers have or had, and the files that none has."""
        unread = super().snapshot()
        return [self.known_but(unread), *unread]

    def known_but(self, unread: Iterable[tuple[Any, ...]]) -> FilesDone:
        """Return the entry for all files that are known but those of other entries."""
        paths = self._known.difference(item[0].path for item in unread)
        return FilesDone(tuple(sorted(paths)))


class MonitoringReader(AskingReader):
    """Finds the files of a subtask itself, where no driver hands files out.

    The path of a file decides which subtask reads the file, so that subtasks need not communicate.

    Args:
        source: reads files.
        restored: the snapshots of all subtasks, and of an enumerator; or None.
        context: the context of the subtask.
    """

    def __init__(
        self, source: SplitFileSource, restored: Sequence[object] | None, context: OperatorContext
    ) -> None:
        super().__init__(source, context)
        task = context.task

        def owns(path: str) -> bool:
            return zlib.crc32(os.fsencode(path)) % task.parallelism == task.subtask_index

        self._files, self._clock = source.enumerator(restored, owns), context.clock
        self._next_search: int | None = None
        self._take_over()

    def poll(self) -> Bundle | None:
        """Return the next elements of the files that are found."""
        now = self._clock.now()
        if self._next_search is None or now >= self._next_search:
            assert self._files.interval is not None
            self._next_search = now + self._files.interval
            self._files.found(self._files.search())
            self._take_over()
        return super().poll()

    def splits_wanted(self) -> int:
        return 0

    def snapshot(self) -> list[Any]:
        """Return the paths of finished files, and the positions in the others, without numbers."""
        unread = [item[:3] for item in super().snapshot()]
        return [self._files.known_but(unread), *unread]

    def _take_over(self) -> None:
        found = []
        while (split := self._files.take()) is not None:
            found.append(split)
        self.add_splits(found, at_once=False)


def new_files(places: Iterable[Location], known: set[str]) -> Iterator[str]:
    """Yield the files under some paths that are not known.

    A pattern without a match is not an error, because a match may appear.

    Raises:
        FileNotFoundError: a path does not exist.
    """
    for place in places:
        files, path = place.files, place.path
        if is_pattern(path) and not files.exists(path):
            for match in files.matches(path):
                yield from files.new_files(match, known)
        else:
            yield from files.new_files(path, known)
