"""The errors of this package: one root; subclasses also are the built-in that a user expects.

Users know them by the module ``pyflink_on_spark.errors``.
"""

from __future__ import annotations

from typing import Any, Self

from pyflink_on_spark._compat.java_errors import also_java_error, known_as

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

    def __new__(cls, *args: Any) -> Self:
        kind: type[Self] = also_java_error(cls)
        return super().__new__(kind, *args)

    @property
    def message(self) -> str:
        """The text without the name of Java's class."""
        return str(self.args[0]) if self.args else ""

    def __str__(self) -> str:
        return f"{self.java_class}: {self.message}"

    def __reduce__(self) -> tuple[Any, ...]:
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
