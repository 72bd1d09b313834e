"""Ctrl-C and SIGTERM: the first asks the script's jobs to end, the second ends the process."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_ENDED_BY_SIGNAL = 128


class EndAsked(KeyboardInterrupt):
    """A signal asks this process to end.

    Args:
        number: the signal's.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    @property
    def status(self) -> int:
        """The exit status, as shells know it."""
        return _ENDED_BY_SIGNAL + self.number


class SignalsAsk:
    """Takes the signals that end a process, from ``install`` on."""

    def __init__(self) -> None:
        self._asked = False

    def install(self) -> None:
        """Take the signals, but those that this process was started to ignore."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in _SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._take)

    def _take(self, number: int, frame: FrameType | None) -> None:
        name = signal.Signals(number).name
        if self._asked:
            os.write(2, f"ended by a second signal ({name})\n".encode())
            os._exit(_ENDED_BY_SIGNAL + number)
        self._asked = True
        if sys.stderr.isatty():
            os.write(2, b"\nThe job ends; press Ctrl-C again to end at once.\n")
        raise EndAsked(number)
