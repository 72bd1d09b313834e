"""What one subtask writes to one bucket."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from pyflink_on_spark._runtime.files.part_file import PartFile, PendingFile

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.files.encoder import LineEncoder
    from pyflink_on_spark._runtime.files.part_names import PartNames
    from pyflink_on_spark._runtime.files.rolling import RollingPolicy


class BucketWriter:
    """Writes lines to part files, and begins a new one when the policy says so.

    Args:
        folder: the bucket's folder.
        names: what the part files are called.
        encoder: how lines are written.
        policy: when a part file is finished.
    """

    def __init__(
        self, folder: str, names: PartNames, encoder: LineEncoder, policy: RollingPolicy
    ) -> None:
        self._folder = folder
        self._names = names
        self._encoder = encoder
        self._policy = policy
        self._part: PartFile | None = None
        self._pending: list[PendingFile] = []

    def write(self, texts: Sequence[str], now: int) -> None:
        """Write some lines at a time in ms.

        A part file takes lines until it is larger than the policy allows: so the last one may
        exceed the size.
        """
        content = self._encoder.encode(texts)
        part = self._part_for_next_line(now)
        limit = self._policy.part_size
        if limit is None or part.size + len(content) <= limit:
            part.write(content, now)
        else:
            self._write_rolling(self._encoder.encode_each(texts), limit, now)

    def roll_if_due(self, now: int) -> None:
        """Finish the part file if it is too old, or was not written to for too long."""
        part = self._part
        if part is not None and self._policy.is_due(now, part.created, part.last_written):
            self.roll()

    def roll(self) -> None:
        """Finish the part file, if there is one."""
        if self._part is not None:
            self._pending.append(self._part.finish())
            self._part = None

    def take_finished(self) -> list[PendingFile]:
        """Hand over the part files that were finished since the last time."""
        pending, self._pending = self._pending, []
        return pending

    def discard(self) -> None:
        """Remove what was not handed over."""
        if self._part is not None:
            self._part.discard()
            self._part = None
        while self._pending:
            self._pending.pop().discard()

    def _write_rolling(self, lines: list[bytes], limit: int, now: int) -> None:
        ends = list(accumulate(map(len, lines)))
        first = written = 0
        while first < len(lines):
            part = self._part_for_next_line(now)
            behind = bisect_right(ends, limit - part.size + written, lo=first) + 1
            part.write(b"".join(lines[first:behind]), now)
            first = min(behind, len(lines))
            written = ends[first - 1]

    def _part_for_next_line(self, now: int) -> PartFile:
        limit = self._policy.part_size
        if self._part is not None and limit is not None and self._part.size > limit:
            self.roll()
        if self._part is None:
            self._part = PartFile(self._folder, self._names.next_path(self._folder), now)
        return self._part
