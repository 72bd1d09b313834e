"""PyFlink's exceptions, for scripts that catch them by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._compat.missing_names import missing_name


class JavaException(PyFlinkOnSparkError):
    """An error that PyFlink reports from Java.

    Args:
        stack_trace: the text of the error, which begins with the name of Java's class.
    """

    def __init__(self, stack_trace: str) -> None:
        self.stack_trace = stack_trace

    def __str__(self) -> str:
        return self.stack_trace


class TableException(JavaException):
    """Something went wrong with a table."""


class CatalogException(JavaException):
    """Something went wrong in a catalog."""


class DatabaseAlreadyExistException(JavaException):
    """A database to be created exists already."""


class DatabaseNotEmptyException(JavaException):
    """A database to be dropped is not empty."""


class DatabaseNotExistException(JavaException):
    """A database that is needed does not exist."""


class FunctionAlreadyExistException(JavaException):
    """A function to be created exists already."""


class FunctionNotExistException(JavaException):
    """A function that is needed does not exist."""


class PartitionAlreadyExistsException(JavaException):
    """A partition to be created exists already."""


class PartitionNotExistException(JavaException):
    """A partition that is needed does not exist, or its table has none."""


class PartitionSpecInvalidException(JavaException):
    """A partition specification does not fit the table's partition keys."""


class TableAlreadyExistException(JavaException):
    """A table or view to be created exists already."""


class TableNotExistException(JavaException):
    """A table or view that is needed does not exist."""


class ModelAlreadyExistException(JavaException):
    """A model to be created exists already."""


class ModelNotExistException(JavaException):
    """A model that is needed does not exist."""


class TableNotPartitionedException(JavaException):
    """A partition of a table without partitions was requested."""


def convert_py4j_exception(e: object) -> Any:
    """Return the exception that PyFlink raises for an error of the JVM.

    On Spark: the exception itself, since none comes from Flink's JVM.
    """
    return e


def capture_java_exception(f: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function raise PyFlink's exceptions for errors of the JVM.

    On Spark: the function itself, since none comes from Flink's JVM.
    """
    return f


__getattr__ = missing_name(__name__)
