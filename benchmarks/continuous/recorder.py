"""The notes of a measured job on its results, as lines of a file for each sink."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

_FLUSH_MS = 500


class Recorder:
    """Notes when results come out.

    A line is a list: when results came out (ms), the end of their window (ms), how many records
    they stand for, and how many results there were.

    Args:
        folder: gets the file.
    """

    def __init__(self, folder):
        self._file = (Path(folder) / f"{os.getpid()}-{id(self)}.jsonl").open("a", buffering=1)
        self._waiting = {}
        self._flushed = 0

    def note(self, end, records, results=1):
        """Take a result, or several of one window."""
        now = int(time.time() * 1000)
        if now - self._flushed >= _FLUSH_MS:
            self.flush()
            self._flushed = now
        place = now, end
        before = self._waiting.get(place)
        if before is None:
            self._waiting[place] = [records, results]
        else:
            before[0] += records
            before[1] += results

    def flush(self):
        """Write what was noted."""
        lines = [json.dumps([*place, *counts]) for place, counts in self._waiting.items()]
        self._waiting.clear()
        if lines:
            self._file.write("\n".join(lines) + "\n")
