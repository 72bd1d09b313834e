"""Files of rows for Spark, and the note that says which rows Spark has."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pyflink_on_spark._filesystem.local_files import LOCAL
from pyflink_on_spark._runtime.checkpoints.folder import Folder

_NOTE = "handed-over"
_SUFFIX = ".parquet"


@dataclass
class StagedFile:
    """A file that one subtask writes with one checkpoint: the committable of the sink.

    Args:
        path: the path of the file, in the folder of the run that wrote it.
        number: the number of the checkpoint; 0 before and without a checkpoint.
    """

    path: str
    number: int = 0

    @property
    def folder(self) -> Path:
        """The folder of the run."""
        return Path(self.path).parent

    @property
    def attempt(self) -> int:
        """The attempt of the run that wrote the file."""
        return attempt_of(Path(self.path))


def file_name(attempt: int, unique: str) -> str:
    """Return the name of a file of an attempt."""
    return f"{attempt}-{unique}{_SUFFIX}"


def attempt_of(path: Path) -> int:
    """Return the attempt that wrote a file."""
    return int(path.name.partition("-")[0])


def files_in(folder: Path) -> list[Path]:
    """Return the files in the folder of a run."""
    return list(folder.glob(f"*-*{_SUFFIX}"))


def make_durable(path: Path) -> None:
    """Write a file to the disk, because the checkpoint that names it is durable, too."""
    LOCAL.make_durable(str(path))
    LOCAL.make_durable(str(path.parent))


def not_handed_over(files: Iterable[StagedFile]) -> list[StagedFile]:
    """Return the files that were handed over neither with their checkpoint nor with a later one."""
    last: dict[Path, dict[int, int]] = {}
    waiting = []
    for file in files:
        if file.folder not in last:
            last[file.folder] = _last_handed_over(file.folder)
        if not 0 < file.number <= last[file.folder].get(file.attempt, 0):
            waiting.append(file)
    return waiting


def note_handed_over(files: Iterable[StagedFile]) -> None:
    """Note, for all files of a checkpoint together, that Spark has their rows.

    Each attempt has its own number: a later attempt restarts from an earlier checkpoint, and does
    not have the rows that a savepoint has of an earlier attempt.
    """
    numbers: dict[Path, dict[int, int]] = {}
    for file in files:
        if file.number > 0:
            if file.folder not in numbers:
                numbers[file.folder] = _last_handed_over(file.folder)
            of_attempts = numbers[file.folder]
            of_attempts[file.attempt] = max(file.number, of_attempts.get(file.attempt, 0))
    for folder, of_attempts in numbers.items():
        Folder(str(folder)).write(_NOTE, json.dumps(of_attempts).encode())


def remove_files(files: Iterable[StagedFile]) -> None:
    """Remove files, and the folder of a run that contains neither files nor a note any more."""
    folders = set()
    for file in files:
        Path(file.path).unlink(missing_ok=True)
        folders.add(file.folder)
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()


def _last_handed_over(folder: Path) -> dict[int, int]:
    """Return the last checkpoint whose rows were handed over, for each attempt."""
    try:
        noted = json.loads(Folder(str(folder)).read(_NOTE))
    except FileNotFoundError:
        return {}
    return {int(attempt): number for attempt, number in noted.items()}
