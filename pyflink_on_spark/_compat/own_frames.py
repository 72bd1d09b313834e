"""Which frames of a traceback are this package's own, and say nothing to a user."""

from __future__ import annotations

import os
from traceback import StackSummary

_PACKAGE_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_COMPILED = "<pyflink_on_spark "


def compiled_file(what: str) -> str:
    """Return what stands for a file where this package compiles code as it goes."""
    return f"{_COMPILED}{what}>"


def is_own(file: str) -> bool:
    """Tell whether a frame's file is one of this package."""
    return file.startswith((_PACKAGE_FOLDER, _COMPILED))


def raised_on_purpose(stack: StackSummary) -> bool:
    """Tell whether this package has raised an error itself, so that its text says enough."""
    if not stack:
        return False
    innermost = stack[-1]
    return is_own(innermost.filename) and (innermost.line or "").startswith("raise ")
