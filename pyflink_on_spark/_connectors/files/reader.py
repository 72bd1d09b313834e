"""Reads files as they appear, in one subtask."""

from __future__ import annotations

import heapq
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.formats.input_format import FileSplit
from pyflink_on_spark._filesystem.file_system import is_pattern
from pyflink_on_spark._runtime.connector import Source, SplitReader

if TYPE_CHECKING:
    from pyflink_on_spark._filesystem.location import Location
    from pyflink_on_spark._runtime.bundle import Bundle
    from pyflink_on_spark._runtime.operators.context import OperatorContext


@dataclass(frozen=True, slots=True)
class FilesDone:
    """The entry of a snapshot for the files that are read to their end.

    Args:
        paths: the paths of the files.
    """

    paths: tuple[str, ...]


class MonitoringReader(SplitReader):
    """Reads a subtask's share of the files under some paths, and looks for new files.

    A file is identified by its path: later changes of the file are not noticed. The path also
    decides which subtask reads the file, so that subtasks need not communicate.

    Args:
        source: reads one file.
        places: files, folders and patterns.
        interval: the time between two searches, in ms.
        restored: the snapshots of all subtasks, or None.
        context: the context of the subtask.
        selects: tells whether a file is read, by its path.
    """

    def __init__(
        self,
        source: Source,
        places: Sequence[Location],
        interval: int,
        restored: Sequence[Any] | None,
        context: OperatorContext,
        selects: Callable[[str], bool] = lambda path: True,
    ) -> None:
        super().__init__(source, [], None, context)
        self._places, self._interval, self._selects = places, interval, selects
        self._clock, self._task = context.clock, context.task
        self._next_search: int | None = None
        self._known: set[str] = set()
        unread: list[list[Any]] = [[]]
        for item in restored or ():
            if isinstance(item, FilesDone):  # with it the snapshot of a subtask begins
                self._known.update(filter(self._is_mine, item.paths))
                unread.append([])
            elif self._is_mine(item[0].path):
                unread[-1].append(item)
                self._known.add(item[0].path)
        # Otherwise all that one subtask had left would come before older files of another one,
        # whose records would be late.
        self._todo.extend(heapq.merge(*unread, key=lambda item: item[0].path))

    @property
    def ended(self) -> bool:  # type: ignore[override]
        """False: a new file may always appear."""
        return False

    def poll(self) -> Bundle | None:
        """Return the next elements of the files that are found."""
        now = self._clock.now()
        if self._next_search is None or now >= self._next_search:
            self._next_search = now + self._interval
            self._search()
        return super().poll()

    def snapshot(self) -> list[Any]:
        """Return the paths of finished files, and the positions in the others."""
        left = {split.path for split, _, _ in self._todo}
        return [FilesDone(tuple(sorted(self._known - left))), *self._todo]

    def _search(self) -> None:
        for path in sorted(set(new_files(self._places, self._known))):
            if self._is_mine(path) and self._selects(path):
                self._known.add(path)
                self._todo.append((FileSplit(path), None, 0))

    def _is_mine(self, path: str) -> bool:
        return zlib.crc32(os.fsencode(path)) % self._task.parallelism == self._task.subtask_index


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
