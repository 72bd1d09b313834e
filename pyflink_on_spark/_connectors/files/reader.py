"""Finds files as they appear, and hands them out."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.formats.file_format import FileSplit
from pyflink_on_spark._filesystem.file_system import is_pattern
from pyflink_on_spark._runtime.contract.connector import AskingReader, SplitEnumerator

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.files.source import SplitFileSource
    from pyflink_on_spark._filesystem.location import Location
    from pyflink_on_spark._runtime.contract.context import OperatorContext
    from pyflink_on_spark._runtime.elements.bundle import Bundle


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

    def snapshot(self) -> list[Any]:
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
        self, source: SplitFileSource, restored: Sequence[Any] | None, context: OperatorContext
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
