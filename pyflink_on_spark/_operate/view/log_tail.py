"""The last lines of this process's log, for those who look at its jobs."""

from __future__ import annotations

import logging
from collections import deque

_LINES = 500
_FORMAT = "%(asctime)s %(levelname)-7s %(name)s - %(message)s"


class LogTail(logging.Handler):
    """Keeps the last lines that are logged."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter(_FORMAT))
        self._lines: deque[str] = deque(maxlen=_LINES)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        self._lines.append(self.format(record))

    def text(self) -> str:
        """Return the lines."""
        return "".join(f"{line}\n" for line in list(self._lines))
