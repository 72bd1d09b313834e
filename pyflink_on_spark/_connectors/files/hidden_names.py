"""The names of hidden files, and the removal of those that are not needed any more."""

from __future__ import annotations

import hashlib
import os
import re
import uuid
from collections.abc import Collection
from dataclasses import dataclass

from pyflink_on_spark._filesystem.file_system import FileSystem
from pyflink_on_spark._filesystem.local_files import LOCAL

_IN_PROGRESS = re.compile(r"\..*\.inprogress\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
_MARK = ".savepoint"
_FAMILY_DIGITS, _RUN_DIGITS = 12, 8


@dataclass(frozen=True)
class Owner:
    """The writer of a file in progress, which is encoded in the id in the file's name.

    Args:
        family: the sink in all attempts of a job, and in jobs that resume from its checkpoints.
        run: the sink in one attempt.
    """

    family: str
    run: str

    @classmethod
    def of(cls, sink: str, attempt: int) -> Owner:
        """Return the owner for a sink of a job that starts without a checkpoint.

        Args:
            sink: the unique id of the sink.
            attempt: the number of restarts.
        """
        run = hashlib.sha256(f"{sink} {attempt}".encode()).hexdigest()[:_RUN_DIGITS]
        return cls(hashlib.sha256(sink.encode()).hexdigest()[:_FAMILY_DIGITS], run)

    def in_progress_path(self, path: str) -> str:
        """Return a hidden path in the same folder, a different one at each call."""
        digits = uuid.uuid4().hex
        name = self.family + digits[_FAMILY_DIGITS:-_RUN_DIGITS] + self.run
        return _hidden(path, str(uuid.UUID(name)))


def in_progress_path(path: str) -> str:
    """Return the hidden path of a file that one process at a time writes: always the same."""
    return _hidden(path, str(uuid.uuid5(uuid.NAMESPACE_URL, path)))


def mark_of(in_progress_path: str) -> str:
    """Return the path of the empty file that marks a file in progress as part of a savepoint."""
    return in_progress_path + _MARK


def leftovers(
    base_path: str,
    owner: Owner,
    families: Collection[str],
    needed: set[str],
    runs: Collection[str] | None = None,
    files: FileSystem = LOCAL,
) -> list[str]:
    """Return the files in progress that earlier attempts have left under a folder.

    Args:
        base_path: the folder.
        owner: the current writer, which may have written files already.
        families: the families of the earlier attempts.
        needed: the paths of files that are not left over.
        runs: the runs of the earlier attempts; None if it is not known which there were.
        files: the file system.
    """
    found = []
    for path in files.all_files(base_path):
        name = _IN_PROGRESS.fullmatch(os.path.basename(path))
        digits = "" if name is None else name.group(1).replace("-", "")
        run = digits[-_RUN_DIGITS:]
        earlier = run != owner.run and (runs is None or run in runs)
        if earlier and digits[:_FAMILY_DIGITS] in families and path not in needed:
            found.append(path)
    return found


def remove_leftovers(paths: Collection[str], files: FileSystem = LOCAL) -> None:
    """Remove what ``leftovers`` returned.

    Files of a savepoint stay, because a job may start from the savepoint at any time.
    """
    for path in paths:
        if not files.exists(mark_of(path)):
            files.remove(path)


def _hidden(path: str, unique: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.inprogress.{unique}")
