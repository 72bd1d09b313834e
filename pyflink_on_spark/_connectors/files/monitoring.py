"""Reading the files of a folder as they come."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.connector import Source, SplitReader
from pyflink_on_spark._connectors.files.enumeration import FileSplit
from pyflink_on_spark._filesystem.file_system import is_pattern

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.bundle import Bundle
    from pyflink_on_spark._runtime.operators.context import OperatorContext
    from pyflink_on_spark._filesystem.location import Location


@dataclass(frozen=True, slots=True)
class FilesDone:
    """The files that were read to their end; in a snapshot beside those that were not.

    Args:
        paths: of the files.
    """

    paths: tuple[str, ...]


class MonitoringReader(SplitReader):
    """Reads a subtask's share of the files under some paths, and looks for new ones for ever.

    A file is known by its path: what happens to it once it was found is not noticed. Its path also
    says which subtask reads it, so that no subtask has to know what the others do.

    Args:
        source: how to read a file.
        places: files, folders and patterns.
        interval: how often to look, in ms.
        restored: what the readers of all subtasks had as their snapshot; None for a fresh start.
        context: the subtask's; its clock says when to look.
    """

    def __init__(
        self,
        source: Source,
        places: Sequence[Location],
        interval: int,
        restored: Sequence[Any] | None,
        context: OperatorContext,
    ) -> None:
        super().__init__(source, [], None, context)
        self._places, self._interval = places, interval
        self._clock, self._task = context.clock, context.task
        self._next_look: int | None = None
        self._known: set[str] = set()
        for item in restored or ():
            if isinstance(item, FilesDone):
                self._known.update(filter(self._is_mine, item.paths))
            elif self._is_mine(item[0].path):
                self._todo.append(item)
                self._known.add(item[0].path)

    @property
    def ended(self) -> bool:  # type: ignore[override]
        """Never: there may always be another file."""
        return False

    def poll(self) -> Bundle | None:
        """Return the next elements of the files that were found."""
        now = self._clock.now()
        if self._next_look is None or now >= self._next_look:
            self._next_look = now + self._interval
            self._look()
        return super().poll()

    def snapshot(self) -> list[Any]:
        """Return what is left of the files that were found, and the paths of those done."""
        left = {split.path for split, _, _ in self._todo}
        return [FilesDone(tuple(sorted(self._known - left))), *self._todo]

    def _look(self) -> None:
        for path in sorted(set(new_files(self._places, self._known))):
            if self._is_mine(path):
                self._known.add(path)
                self._todo.append((FileSplit(path), None, 0))

    def _is_mine(self, path: str) -> bool:
        return zlib.crc32(os.fsencode(path)) % self._task.parallelism == self._task.subtask_index


def new_files(places: Iterable[Location], known: set[str]) -> Iterator[str]:
    """Yield the files under some paths that are not known yet.

    A pattern that nothing fits yet is no error: something may come.

    Raises:
        FileNotFoundError: if one of the paths does not exist.
    """
    for place in places:
        files, path = place.files, place.path
        if is_pattern(path) and not files.exists(path):
            for match in files.matches(path):
                yield from files.new_files(match, known)
        else:
            yield from files.new_files(path, known)
