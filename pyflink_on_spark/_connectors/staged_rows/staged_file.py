"""A file of rows that Spark is to get, and the note that it got them."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pyflink_on_spark._runtime.checkpoints.folder import LocalFolder

_NOTE = "handed-over"
_SUFFIX = ".parquet"


@dataclass
class StagedFile:
    """What one subtask wrote between two checkpoints; part of the second one.

    Args:
        path: of the file, in the folder of the run that wrote it.
        number: the checkpoint's; 0 until there is one, and in a job that makes none.
    """

    path: str
    number: int = 0

    @property
    def folder(self) -> Path:
        """The folder of the run."""
        return Path(self.path).parent

    @property
    def attempt(self) -> int:
        """Which attempt of the run wrote it."""
        return attempt_of(Path(self.path))


def file_name(attempt: int, unique: str) -> str:
    """Return the name of a file that an attempt writes."""
    return f"{attempt}-{unique}{_SUFFIX}"


def attempt_of(path: Path) -> int:
    """Return which attempt wrote a file."""
    return int(path.name.partition("-")[0])


def files_in(folder: Path) -> list[Path]:
    """Return the files that lie in the folder of a run."""
    return list(folder.glob(f"*-*{_SUFFIX}"))


def make_safe(path: Path) -> None:
    """Let a file reach the disk, as the checkpoint will that names it."""
    for place, flags in ((path, os.O_RDWR), (path.parent, os.O_RDONLY)):
        descriptor = os.open(place, flags)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def not_handed_over(files: Iterable[StagedFile]) -> list[StagedFile]:
    """Return the files whose rows Spark has not got, with their checkpoint or a later one."""
    last: dict[Path, dict[int, int]] = {}
    waiting = []
    for file in files:
        if file.folder not in last:
            last[file.folder] = _last_handed_over(file.folder)
        if not 0 < file.number <= last[file.folder].get(file.attempt, 0):
            waiting.append(file)
    return waiting


def note_handed_over(files: Iterable[StagedFile]) -> None:
    """Note, for all files of a checkpoint at once, that Spark has got their rows.

    Of each attempt by itself: a later one goes back, and does not have what a savepoint has of an
    earlier one.
    """
    numbers: dict[Path, dict[int, int]] = {}
    for file in files:
        if file.number > 0:
            if file.folder not in numbers:
                numbers[file.folder] = _last_handed_over(file.folder)
            of_attempts = numbers[file.folder]
            of_attempts[file.attempt] = max(file.number, of_attempts.get(file.attempt, 0))
    for folder, of_attempts in numbers.items():
        LocalFolder(str(folder)).write(_NOTE, json.dumps(of_attempts).encode())


def remove_files(files: Iterable[StagedFile]) -> None:
    """Remove files, and the folder of a run that has neither files nor a note any more."""
    folders = set()
    for file in files:
        Path(file.path).unlink(missing_ok=True)
        folders.add(file.folder)
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()


def _last_handed_over(folder: Path) -> dict[int, int]:
    """Return the number of the last checkpoint of each attempt that handed anything over."""
    try:
        noted = json.loads(LocalFolder(str(folder)).read(_NOTE))
    except FileNotFoundError:
        return {}
    return {int(attempt): number for attempt, number in noted.items()}
