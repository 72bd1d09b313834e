"""Sources of a subtask that have ended."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._runtime.connector import SourceReader


class FinishedReaders:
    """Readers of which nothing comes any more.

    One that is kept is open until a checkpoint is safe that has its end: until then it takes part
    in checkpoints, as there may be something that it has to tell its source, or to note.
    """

    def __init__(self) -> None:
        self._kept: dict[int, SourceReader] = {}
        self._first_checkpoints: dict[int, int] = {}
        self._positions: dict[int, list[Any]] = {}

    def keep(self, index: int, reader: SourceReader) -> None:
        """Take over a reader, by its segment."""
        self._kept[index] = reader

    def close_now(self, index: int, reader: SourceReader) -> None:
        """Close a reader, by its segment."""
        self._positions[index] = reader.snapshot()
        reader.close()

    def snapshot(self, index: int, checkpoint_id: int) -> list[Any]:
        """Return the last position of a segment's reader."""
        reader = self._kept.get(index)
        if reader is not None:
            reader.prepare_checkpoint(checkpoint_id)
            self._positions[index] = reader.snapshot()
            self._first_checkpoints.setdefault(index, checkpoint_id)
        return self._positions[index]

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Tell the readers, and close those whose end the checkpoint has."""
        for index, reader in list(self._kept.items()):
            reader.notify_checkpoint_complete(checkpoint_id)
            first = self._first_checkpoints.get(index)
            if first is not None and first <= checkpoint_id:
                self._kept.pop(index).close()

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """Tell the readers."""
        for reader in self._kept.values():
            reader.notify_checkpoint_aborted(checkpoint_id)

    def take_kept(self) -> list[SourceReader]:
        """Return, once, those that are open."""
        kept, self._kept = list(self._kept.values()), {}
        return kept
