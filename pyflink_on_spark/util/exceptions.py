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
    """A database to be created is there already."""


class DatabaseNotEmptyException(JavaException):
    """A database to be dropped has something in it."""


class DatabaseNotExistException(JavaException):
    """A database that is needed is not there."""


class FunctionAlreadyExistException(JavaException):
    """A function to be created is there already."""


class FunctionNotExistException(JavaException):
    """A function that is needed is not there."""


class PartitionAlreadyExistsException(JavaException):
    """A partition to be created is there already."""


class PartitionNotExistException(JavaException):
    """A partition that is needed is not there, or its table has none."""


class PartitionSpecInvalidException(JavaException):
    """A partition specification does not fit the table's partition keys."""


class TableAlreadyExistException(JavaException):
    """A table or view to be created is there already."""


class TableNotExistException(JavaException):
    """A table or view that is needed is not there."""


class ModelAlreadyExistException(JavaException):
    """A model to be created is there already."""


class ModelNotExistException(JavaException):
    """A model that is needed is not there."""


class TableNotPartitionedException(JavaException):
    """A partition was asked for on a table that has none."""


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
