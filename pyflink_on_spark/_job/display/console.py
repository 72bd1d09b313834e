"""The console of the driver, which the output of jobs and their progress share."""

from __future__ import annotations

import shutil
import sys
import threading
from typing import TextIO

_ERASE = "\r\033[K"


class Console:
    """Writes whole lines, and a line of progress that stays below them.

    Several threads may write at the same time.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shown_on: TextIO | None = None

    def write(self, text: str, stream: TextIO | None = None) -> None:
        """Write lines, and the end of the last one, in place of a progress that is shown.

        Args:
            text: the lines.
            stream: standard output if None.
        """
        with self._lock:  # print() writes a text and its end apart
            self._erase()
            stream = stream or sys.stdout
            stream.write(text + "\n")
            stream.flush()

    def show(self, line: str, terminal: TextIO) -> None:
        """Show a line of progress in place of the last one, cut to the width of the terminal."""
        with self._lock:
            width = shutil.get_terminal_size().columns
            terminal.write(f"{_ERASE}{line[: width - 1]}")
            terminal.flush()
            self._shown_on = terminal

    def keep(self) -> None:
        """Leave the progress that is shown, and end its line."""
        with self._lock:
            terminal, self._shown_on = self._shown_on, None
            if terminal is not None:
                terminal.write("\n")
                terminal.flush()

    def _erase(self) -> None:
        terminal, self._shown_on = self._shown_on, None
        if terminal is not None:
            terminal.write(_ERASE)
            terminal.flush()


console = Console()
"""The process's own."""
