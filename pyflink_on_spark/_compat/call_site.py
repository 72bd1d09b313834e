"""The place in the user's script where an operator was added."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from pyflink_on_spark._compat.own_frames import is_own


@dataclass(frozen=True)
class CallSite:
    """A place in the user's code: the file, the line from 1, and the function around it."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def capture_call_site() -> CallSite:
    """Return the innermost place on the stack that is outside this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and is_own(frame.f_code.co_filename):
        frame = frame.f_back
    return CallSite(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
