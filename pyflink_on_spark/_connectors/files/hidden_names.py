"""How files are called that are not visible yet, and which of them nobody needs any more."""

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
    """Who writes a file that is in progress; part of the random looking id in its name.

    Args:
        family: a sink in all attempts of a job, and in the jobs that go on from its checkpoints.
        run: the sink in one attempt.
    """

    family: str
    run: str

    @classmethod
    def of(cls, sink: str, attempt: int) -> Owner:
        """Return the owner for a sink of a job that begins without a checkpoint.

        Args:
            sink: an id of the sink that no other one has.
            attempt: how often the job was restarted.
        """
        run = hashlib.sha256(f"{sink} {attempt}".encode()).hexdigest()[:_RUN_DIGITS]
        return cls(hashlib.sha256(sink.encode()).hexdigest()[:_FAMILY_DIGITS], run)

    def in_progress_path(self, path: str) -> str:
        """Return a hidden path beside a path, another one at each call."""
        digits = uuid.uuid4().hex
        name = self.family + digits[_FAMILY_DIGITS:-_RUN_DIGITS] + self.run
        return _hidden(path, str(uuid.UUID(name)))


def in_progress_path(path: str) -> str:
    """Return the hidden path of a file that one process at a time writes, the same each time."""
    return _hidden(path, str(uuid.uuid5(uuid.NAMESPACE_URL, path)))


def mark_of(in_progress_path: str) -> str:
    """Return the path of an empty file that says that a savepoint names a file in progress."""
    return in_progress_path + _MARK


def remove_leftovers(
    base_path: str,
    owner: Owner,
    families: Collection[str],
    needed: set[str],
    files: FileSystem = LOCAL,
) -> None:
    """Remove the files in progress that earlier attempts have left under a folder.

    Those that a savepoint names stay: who took it may begin with it whenever they like.

    Args:
        base_path: the folder.
        owner: who writes there now, perhaps already.
        families: whose files to remove.
        needed: the paths that stay.
        files: where the folder is.
    """
    paths = list(files.all_files(base_path))
    needed = needed | {path.removesuffix(_MARK) for path in paths if path.endswith(_MARK)}
    for path in paths:
        found = _IN_PROGRESS.fullmatch(os.path.basename(path))
        if found is None:
            continue
        digits = found.group(1).replace("-", "")
        known = digits[:_FAMILY_DIGITS] in families and not digits.endswith(owner.run)
        if known and path not in needed:
            files.remove(path)


def _hidden(path: str, unique: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.inprogress.{unique}")
