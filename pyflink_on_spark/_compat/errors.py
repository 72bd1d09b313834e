"""The errors of this package: one root; subclasses also are the built-in that a user expects.

Users know them by the module ``pyflink_on_spark.errors``.

A script with a clause ``except Py4JJavaError`` has imported py4j. This package does not import py4j
for it.
"""

from __future__ import annotations

import functools
import sys
from typing import Any, Self

PUBLIC_MODULE = "pyflink_on_spark.errors"


class PyFlinkOnSparkError(Exception):
    """Root of every error that this package raises on its own account."""

    __module__ = PUBLIC_MODULE


class UnsupportedFlinkFeature(PyFlinkOnSparkError, NotImplementedError):
    """A PyFlink call that cannot be carried out on Spark; its text names the way out."""

    __module__ = PUBLIC_MODULE


class RaisedByJava(PyFlinkOnSparkError):
    """For a script that has imported py4j it also is a Py4JJavaError, as in PyFlink.

    ``java_class`` is the name of Java's class, which the text of PyFlink's error has.
    """

    java_class: str = "java.lang.RuntimeException"

    def __new__(cls, *args: object) -> Self:
        kind: type[Self] = also_java_error(cls)
        return super().__new__(kind, *args)

    @property
    def message(self) -> str:
        """The text without the name of Java's class."""
        return str(self.args[0]) if self.args else ""

    def __str__(self) -> str:
        return f"{self.java_class}: {self.message}"

    def __reduce__(self) -> tuple[object, ...]:
        return known_as(type(self)), self.args, self.__dict__


class _EndOfJob(RaisedByJava, RuntimeError):
    java_class = "org.apache.flink.runtime.client.JobExecutionException"

    def __str__(self) -> str:
        return self.message


class JobExecutionError(_EndOfJob):
    """A job failed: the user's own traceback, the operator, and what it was working on.

    In a script that imports py4j it also is a ``py4j.protocol.Py4JJavaError``, so that the
    ``except`` clauses of a PyFlink script catch it. ``spark_error`` is what Spark raised, with all
    that it says; None if the error is not Spark's.

    Example:
        >>> from pyflink_on_spark.errors import JobExecutionError
        >>> stream = env.from_collection([0]).map(lambda value: 1 / value)
        >>> try:
        ...     list(stream.execute_and_collect())
        ... except JobExecutionError as error:
        ...     print("ZeroDivisionError: division by zero" in str(error))
        True
    """

    __module__ = PUBLIC_MODULE
    spark_error: BaseException | None = None


class JobCancelledError(_EndOfJob):
    """The result of a job was asked for, but the job was cancelled.

    In a script that imports py4j it also is a ``py4j.protocol.Py4JJavaError``.
    """

    __module__ = PUBLIC_MODULE


class JobTranslationError(PyFlinkOnSparkError, ValueError):
    """A job graph that cannot be run as it was described."""

    __module__ = PUBLIC_MODULE


class EnvironmentSetupError(PyFlinkOnSparkError, RuntimeError):
    """Something outside the script is missing: Java, a Spark session, a free port, a folder."""

    __module__ = PUBLIC_MODULE


class CheckpointError(PyFlinkOnSparkError, RuntimeError):
    """A checkpoint or savepoint could not be written, or cannot be restored."""

    __module__ = PUBLIC_MODULE


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


def also_java_error(kind: object) -> Any:
    """Return a class of errors, as a Py4JJavaError too if somebody has imported py4j."""
    protocol = sys.modules.get("py4j.protocol")
    return kind if protocol is None else _also(kind, protocol.Py4JJavaError)


def known_as(kind: Any) -> object:
    """Return the class that has a name in a module, of one that ``also_java_error`` returned."""
    return kind.__base__ if kind.__qualname__ == kind.__base__.__qualname__ else kind


@functools.cache
def _also(kind: Any, java_error: Any) -> object:
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
