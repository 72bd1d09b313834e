"""Which checkpoints of a job are kept, and how the others are removed."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

from pyflink_on_spark._runtime.checkpoints.changelog import remove_unneeded
from pyflink_on_spark._runtime.checkpoints.checkpoint import METADATA, Metadata
from pyflink_on_spark._runtime.checkpoints.folder import Folder

_log = logging.getLogger("pyflink_on_spark")


class RetainedCheckpoints:
    """The checkpoints of one job.

    Args:
        home: the job's own folder, which they are in; None if they are in memory.
        most: how many to keep.
        shared: whether they share files, which are needed as long as one of them names them.
    """

    def __init__(self, home: Folder | None, most: int, shared: bool) -> None:
        self._home, self._most, self._shared = home, most, shared
        self._kept: list[tuple[Folder, Metadata]] = []
        self._leftovers: list[Folder] = []

    def __bool__(self) -> bool:
        return bool(self._kept)

    @property
    def oldest(self) -> int | None:
        """The number of the oldest one, if there is any."""
        return self._kept[0][1].checkpoint_id if self._kept else None

    def add(self, place: Folder, metadata: Metadata) -> None:
        """Keep a checkpoint that is complete."""
        self._kept.append((place, metadata))

    def remove_older(self) -> None:
        """Remove the oldest checkpoints if there are more than are to be kept."""
        while len(self._kept) > self._most:
            self._leftovers.append(self._kept.pop(0)[0])
        self._remove_leftovers()
        with telling("the changes that no checkpoint needs any more"):
            self._remove_unneeded()

    def discard(self, place: Folder, late: bool) -> None:
        """Remove what there is of a checkpoint that was not completed.

        Args:
            place: its folder.
            late: whether hosts may still write there: it is removed again later.
        """
        with telling(place.shown):
            place.remove()
        if late:
            self._leftovers.append(place)

    def drop_all(self) -> None:
        """Remove all, and the job's folder if nothing else is in it.

        Raises:
            OSError: if files that they share cannot be removed.
        """
        self._leftovers += [place for place, _ in self._kept]
        self._kept.clear()
        self._remove_leftovers()
        self._remove_unneeded()
        if self._home is not None and not self._home.names():
            self._home.remove()

    def _remove_leftovers(self) -> None:
        leftovers, self._leftovers = self._leftovers, []
        for place in leftovers:
            with telling(place.shown):
                place.remove(METADATA)  # first, so that half of a checkpoint is never taken for one
                place.remove()

    def _remove_unneeded(self) -> None:
        if self._shared and self._home is not None:
            remove_unneeded(self._home, [metadata for _, metadata in self._kept])


@contextlib.contextmanager
def telling(what: str) -> Iterator[None]:
    """Log a warning if something cannot be removed, and continue."""
    try:
        yield
    except OSError as error:
        _log.warning("%s could not be removed: %s", what, error)
