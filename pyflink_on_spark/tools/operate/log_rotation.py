"""Keeps the log of a detached driver from growing without end.

The driver, Spark's JVM and the hosts append to one file. So the file keeps its name and is
cut, once its content is in an older part.
"""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

_LOOK_SECONDS = 10.0
_CHUNK = 1024 * 1024


class RotatedLog:
    """A log file that several processes append to.

    Args:
        file: its path; older parts have a number after their name, the newest 1.
        longest: how many bytes it may have.
        parts: how many older parts are kept.
    """

    def __init__(self, file: Path, longest: int, parts: int) -> None:
        self._file, self._longest, self._parts = file, longest, parts

    def watch(self) -> None:
        """Look after the file from now on, in a thread."""
        threading.Thread(target=self._watch, name="log rotation", daemon=True).start()

    def rotate_if_long(self) -> bool:
        """Move the content to an older part if there is too much; return whether that was done."""
        if not self._file.exists() or self._file.stat().st_size <= self._longest:
            return False
        for number in range(self._parts - 1, 0, -1):
            older = self._part(number)
            if older.exists():
                older.replace(self._part(number + 1))
        with self._file.open("r+b") as content, self._part(1).open("wb") as part:
            os.fchmod(part.fileno(), 0o600)
            shutil.copyfileobj(content, part, _CHUNK)
            content.truncate(0)
        return True

    def _part(self, number: int) -> Path:
        return self._file.with_name(f"{self._file.name}.{number}")

    def _watch(self) -> None:
        done = threading.Event()
        while not done.wait(_LOOK_SECONDS):
            try:
                self.rotate_if_long()
            except OSError:  # the next look may find a disk with room
                continue
