"""The folder into which Spark writes one micro-batch after the other."""

from __future__ import annotations

import re
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

from pyflink_on_spark._runtime.checkpoints.folder import LocalFolder

_IDENTITY, _FIRST, _POSITIONS = "identity", "first-batch", "positions"
_BATCH = re.compile(r"batch-(\d+)$")


class BatchFolder:
    """A sub-folder of Parquet files for each batch, and how far they are read and needed.

    Args:
        path: of the folder.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._notes = LocalFolder(path)

    def establish(self) -> None:
        """Give the folder an identity, if it has none yet."""
        if _IDENTITY not in self._notes.names():
            self._notes.write(_IDENTITY, uuid.uuid4().hex.encode())

    @property
    def identity(self) -> str:
        """What tells the folder from another one at the same path.

        Raises:
            FileNotFoundError: if the folder is not there.
        """
        return self._notes.read(_IDENTITY).decode()

    @property
    def first(self) -> int:
        """The number of the first batch that was not removed."""
        try:
            return int(self._notes.read(_FIRST))
        except FileNotFoundError:
            return 0

    def batch(self, number: int) -> Path:
        """Return the folder of a batch, which may not be there yet."""
        return Path(self.path, f"batch-{number}")

    def is_there(self, number: int) -> bool:
        """Tell whether Spark has written a batch."""
        return self.batch(number).is_dir()

    def files(self, number: int) -> list[str]:
        """Return the files of a batch, always in the same order."""
        return sorted(map(str, self.batch(number).glob("*.parquet")))

    def note_position(self, checkpoint_id: int, subtask: int, batch: int) -> None:
        """Note the first batch that a subtask needs to go on from a checkpoint."""
        folder = Path(self.path, _POSITIONS, str(checkpoint_id))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{subtask}-{batch}").touch()

    def remove_read(self, checkpoint_id: int, parallelism: int) -> None:
        """Remove the batches that are of no use to a checkpoint and to those after it.

        What the folder has is known first, then removed: who comes back to what is gone shall hear
        of it.

        Args:
            checkpoint_id: the oldest that has to be restorable.
            parallelism: how many subtasks it has positions of; without all of them nothing is done.
        """
        positions: dict[int, int] = {}
        for note in Path(self.path, _POSITIONS, str(checkpoint_id)).glob("*-*"):
            subtask, _, batch = note.name.partition("-")
            positions[int(subtask)] = min(int(batch), positions.get(int(subtask), int(batch)))
        if not positions.keys() >= set(range(parallelism)):
            return
        first = min(positions.values())
        if first > self.first:
            self._notes.write(_FIRST, str(first).encode())
        for number, folder in self._batches():
            if number < first:
                shutil.rmtree(folder, ignore_errors=True)
        for folder in Path(self.path, _POSITIONS).iterdir():
            if int(folder.name) < checkpoint_id:
                shutil.rmtree(folder, ignore_errors=True)

    def _batches(self) -> Iterator[tuple[int, Path]]:
        for path in Path(self.path).glob("batch-*"):
            match = _BATCH.match(path.name)
            if match:
                yield int(match[1]), path
