"""Errors that a PyFlink script's ``except Py4JJavaError`` catches.

A script that has such a clause has imported py4j. This package does not import py4j for it.
"""

from __future__ import annotations

import functools
import sys
from typing import Any


class JavaClass:
    """Stands for the class of a Java exception: its name, and no Java object.

    Args:
        name: the full name.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __str__(self) -> str:
        return f"class {self._name}"

    def getName(self) -> str:  # noqa: N802 - Java's name
        """The full name."""
        return self._name

    getCanonicalName = getTypeName = getName  # noqa: N815 - Java's names

    def getSimpleName(self) -> str:  # noqa: N802 - Java's name
        """The name without its package."""
        return self._name.rpartition(".")[2]


class FailureText:
    """Stands where a Py4JJavaError has a Java exception: the text, and no Java object.

    Args:
        text: what the error says.
        message: the same without the name of the class.
        java_class: the full name of the class that PyFlink's error has.
    """

    def __init__(self, text: str, message: str, java_class: str) -> None:
        self._text = text
        self._message = message
        self._java_class = java_class

    def __str__(self) -> str:
        return self._text

    def toString(self) -> str:  # noqa: N802 - Java's name
        """Return the text."""
        return self._text

    def getMessage(self) -> str:  # noqa: N802 - Java's name
        """The text without the name of the class."""
        return self._message

    getLocalizedMessage = getMessage  # noqa: N815 - Java's name

    def getClass(self) -> JavaClass:  # noqa: N802 - Java's name
        """The class of the error in PyFlink."""
        return JavaClass(self._java_class)

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
        "java_exception": property(
            lambda self: FailureText(str(self), self.message, self.java_class)
        ),
        "cause": None,
    }
    return type(kind.__name__, (kind, java_error), own)
