"""The folder into which Spark writes its micro-batches."""

from __future__ import annotations

import re
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

from pyflink_on_spark._runtime.checkpoints.folder import Folder

_IDENTITY, _FIRST, _POSITIONS = "identity", "first-batch", "positions"
_BATCH = re.compile(r"batch-(\d+)$")


class BatchFolder:
    """A folder with a sub-folder for each batch, and notes about the batches in use.

    Args:
        path: the path of the folder.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._notes = Folder(path)

    def establish(self) -> None:
        """Give the folder an identity unless it has one."""
        if _IDENTITY not in self._notes.names():
            self._notes.write(_IDENTITY, uuid.uuid4().hex.encode())

    @property
    def identity(self) -> str:
        """The identity of the folder, which another folder at the same path does not have.

        Raises:
            FileNotFoundError: the folder does not exist.
        """
        return self._notes.read(_IDENTITY).decode()

    @property
    def first(self) -> int:
        """The number of the first batch that is not removed."""
        try:
            return int(self._notes.read(_FIRST))
        except FileNotFoundError:
            return 0

    def batch(self, number: int) -> Path:
        """Return the folder of a batch, which may not exist yet."""
        return Path(self.path, f"batch-{number}")

    def is_there(self, number: int) -> bool:
        """Whether Spark has written a batch."""
        return self.batch(number).is_dir()

    def files(self, number: int) -> list[str]:
        """Return the files of a batch in a fixed order."""
        return sorted(map(str, self.batch(number).glob("*.parquet")))

    def note_position(self, checkpoint_id: int, subtask: int, batch: int) -> None:
        """Note the first batch that a subtask needs to resume from a checkpoint."""
        folder = Path(self.path, _POSITIONS, str(checkpoint_id))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{subtask}-{batch}").touch()

    def remove_read(self, checkpoint_id: int, parallelism: int) -> None:
        """Remove the batches that neither a checkpoint nor a later one needs.

        The number of the first batch is written before batches are removed, so that a job that
        needs a removed batch fails with an explanation.

        Args:
            checkpoint_id: the oldest checkpoint that must be restorable.
            parallelism: the number of subtasks. Nothing is removed unless the positions of all of
                them are known.
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
