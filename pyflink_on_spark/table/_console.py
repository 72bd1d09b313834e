"""What tables print."""

from __future__ import annotations

import sys
import threading
from typing import Any, TextIO

from pyflink_on_spark._sql.connectors.printing import STANDARD_ERROR, STANDARD_OUTPUT

_console = threading.Lock()


def print_line(line: str) -> None:
    """Print a line; lines of several threads do not get mixed up."""
    _write(sys.stdout, line)


def table_printers() -> dict[str, Any]:
    """Return what print tables do with their lines, by the channel to the driver."""
    return {
        STANDARD_OUTPUT: lambda lines: _write(sys.stdout, "\n".join(lines)),
        STANDARD_ERROR: lambda lines: _write(sys.stderr, "\n".join(lines)),
    }


def _write(stream: TextIO, text: str) -> None:
    with _console:
        stream.write(text + "\n")
        stream.flush()
