"""Errors that a PyFlink script's ``except Py4JJavaError`` catches.

A script that has such a clause has imported py4j. This package does not import py4j for it.
"""

from __future__ import annotations

import functools
import sys
from typing import Any


class FailureText:
    """Stands where a Py4JJavaError has a Java exception: the text, and no Java object.

    Args:
        text: what the error says.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text

    def toString(self) -> str:  # noqa: N802 - Java's name
        """Return the text."""
        return self._text

    getMessage = getLocalizedMessage = toString  # noqa: N815 - Java's names

    def getCause(self) -> None:  # noqa: N802 - Java's name
        """Return None."""

    def printStackTrace(self) -> None:  # noqa: N802 - Java's name
        """Write the text to standard error."""
        sys.stderr.write(f"{self._text}\n")


def also_java_error(kind: Any) -> Any:
    """Return a class of errors, as a Py4JJavaError too if somebody has imported py4j."""
    protocol = sys.modules.get("py4j.protocol")
    return kind if protocol is None else _also(kind, protocol.Py4JJavaError)


def known_as(kind: Any) -> Any:
    """Return the class that has a name in a module, of one that ``also_java_error`` returned."""
    return kind.__base__ if kind.__qualname__ == kind.__base__.__qualname__ else kind


@functools.cache
def _also(kind: Any, java_error: Any) -> Any:
    if issubclass(kind, java_error):
        return kind
    own = {
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
        "__doc__": kind.__doc__,
        "errmsg": property(str),
        "java_exception": property(lambda self: FailureText(str(self))),
        "cause": None,
    }
    return type(kind.__name__, (kind, java_error), own)
