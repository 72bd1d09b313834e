"""The context in which a function of a table runs, and the conversion of its values."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.formats.java_parsing import to_single
from pyflink_on_spark._runtime.user_code import UserFunction
from pyflink_on_spark._sql.codegen.program import Binding
from pyflink_on_spark._sql.types.external import from_python, to_python
from pyflink_on_spark._sql.types.logical import (
    APPROXIMATE,
    CHARACTERS,
    INTEGER_BITS,
    LogicalType,
    Root,
)
from pyflink_on_spark.common.types import Row

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark.metrics import MetricGroup


class FunctionContext:
    """The context of a user function: its task, its metrics and the job's parameters.

    Args:
        base_metric_group: the metrics of the subtask; None if metrics are off.
        job_parameters: the global parameters of the job.
        task_name: the name of the task.
        task_name_with_subtasks: the name of the task with the subtask.
        number_of_parallel_subtasks: how many subtasks there are.
        max_number_of_parallel_subtasks: how many subtasks there can be.
        index_of_this_subtask: the number of the subtask, from 0.
        attempt_number: how often the job was restarted.
    """

    def __init__(
        self,
        base_metric_group: MetricGroup | None,
        job_parameters: Mapping[str, str],
        task_name: str | None = None,
        task_name_with_subtasks: str | None = None,
        number_of_parallel_subtasks: int | None = None,
        max_number_of_parallel_subtasks: int | None = None,
        index_of_this_subtask: int | None = None,
        attempt_number: int | None = None,
    ) -> None:
        self._metrics = base_metric_group
        self._job_parameters = job_parameters
        self._task_name = task_name or ""
        self._task_name_with_subtasks = task_name_with_subtasks or ""
        self._parallelism = number_of_parallel_subtasks or 0
        self._max_parallelism = max_number_of_parallel_subtasks or 0
        self._subtask_index = index_of_this_subtask or 0
        self._attempt = attempt_number or 0

    def get_metric_group(self) -> MetricGroup:
        """Return the metrics of the subtask.

        Raises:
            RuntimeError: metrics are off.
        """
        if self._metrics is None:
            raise RuntimeError(
                "Metric has not been enabled. "
                "You can enable metric with the 'python.metric.enabled' configuration."
            )
        return self._metrics

    def get_job_parameter(self, key: str, default_value: str) -> str:
        """Return a global parameter of the job, or a default."""
        return self._job_parameters.get(key, default_value)

    def get_task_name(self) -> str:
        """Return the name of the task."""
        return self._task_name

    def get_task_name_with_subtasks(self) -> str:
        """Return the name of the task with the subtask."""
        return self._task_name_with_subtasks

    def get_number_of_parallel_subtasks(self) -> int:
        """Return how many subtasks there are."""
        return self._parallelism

    def get_max_number_of_parallel_subtasks(self) -> int:
        """Return how many subtasks there can be."""
        return self._max_parallelism

    def get_index_of_this_subtask(self) -> int:
        """Return the number of the subtask, from 0."""
        return self._subtask_index

    def get_attempt_number(self) -> int:
        """Return how often the job was restarted."""
        return self._attempt


def function_context(context: OperatorContext) -> FunctionContext:
    """Return the part of an operator's context that a user function may see."""
    task = context.task
    return FunctionContext(
        context.runtime_context.get_metrics_group(),
        task.job_parameters,
        task.task_name,
        task.task_name_with_subtasks,
        task.parallelism,
        task.max_parallelism,
        task.subtask_index,
        task.attempt,
    )


Convert = Callable[[Any], Any]
Arguments = Callable[[Sequence[Any]], Sequence[Any]]


class UserBinding(Binding):
    """Loads, opens and closes a user's function.

    Args:
        function: the function.
        types: the types of the arguments.
        result: the type of the result, or the types of the columns of its rows.
        zone: the session's time zone, by name.
        names: the names of the fields, if the arguments make one row.
    """

    def __init__(
        self,
        function: UserFunction,
        types: Sequence[LogicalType],
        result: LogicalType | Sequence[LogicalType],
        zone: str,
        names: tuple[str, ...] | None = None,
    ) -> None:
        self._zone = zone
        self._function, self._types, self._names = function, tuple(types), names
        self._result = result

    def load(self, context: OperatorContext | None) -> object:
        """Return the object that the code calls."""
        loaded = self._function.load()
        opening = getattr(loaded, "open", None)
        if opening is not None and context is not None:
            opening(function_context(context))
        return self.caller(loaded)

    def close(self, loaded: Any) -> None:
        """Close the function."""
        closing = getattr(loaded.owner, "close", None)
        if closing is not None:
            closing()

    @abstractmethod
    def caller(self, loaded: object) -> object:
        """Return the object that the code calls; its ``owner`` is the function."""

    def arguments(self) -> Arguments:
        """Return the conversion of arguments to Python objects."""
        converters = [to_python(kind, self._zone) for kind in self._types]
        names = None if self._names is None else list(self._names)

        def made(args: Sequence[object]) -> Sequence[Any]:
            values = [
                value if convert is None or value is None else convert(value)
                for convert, value in zip(converters, args)
            ]
            if names is None:
                return values
            row = Row(*values)
            row.set_field_names(names)
            return (row,)

        return made

    def result(self) -> Convert:
        """Return the conversion of the function's result to a value or a row."""
        if isinstance(self._result, LogicalType):
            return result_of(self._result)
        return row_of(self._result)


class CallBinding(UserBinding):
    """Calls a function, or the ``eval`` of an object."""

    def caller(self, loaded: object) -> object:
        """Return the object that the code calls; its ``owner`` is the function."""
        call = self.call(getattr(loaded, "eval", loaded), self.arguments(), self.result())
        call.owner = loaded
        return call

    @abstractmethod
    def call(self, evaluate: object, arguments: Arguments, result: Convert) -> Any:
        """Return a function of a row's arguments.

        Args:
            evaluate: the user's function.
            arguments: makes Python objects of arguments.
            result: makes a value, or a row, of what the function returns.
        """


def result_of(kind: LogicalType) -> Convert:
    """Return the conversion of a user function's result to a value of a type."""
    if kind.root in INTEGER_BITS:
        return _integer_of(kind)
    if kind.root in CHARACTERS:
        return _text_of(kind)
    convert = bool if kind.root is Root.BOOLEAN else from_python(kind, local=True)
    if kind.root in APPROXIMATE:
        convert = to_single if kind.root is Root.FLOAT else float

    def converted(value: object) -> object:
        return value if value is None or convert is None else convert(value)

    return converted


def _integer_of(kind: LogicalType) -> Convert:
    half = 1 << (INTEGER_BITS[kind.root] - 1)

    def converted(value: object) -> object:
        if type(value) is int and -half <= value < half:
            return value
        if value is None:
            return None
        if not hasattr(value, "__int__"):
            raise TypeError(f"The function returned {value!r}, which is no {kind.root.value}.")
        number = int(value)
        if not -half <= number < half:
            raise OverflowError(f"The function returned {value!r}, too much for {kind.root.value}.")
        return number

    return converted


def _text_of(kind: LogicalType) -> Convert:
    def converted(value: object) -> object:
        if value is None or isinstance(value, str):
            return value
        raise TypeError(
            f"The function returned {value!r}, which is no {kind.text(nullability=False)}."
        )

    return converted


def row_of(results: Sequence[LogicalType]) -> Convert:
    """Return the conversion of a result to a row: the result is a tuple, a Row or one value."""
    converters = [result_of(kind) for kind in results]

    def fields(item: Any) -> tuple[object, ...]:
        values = item
        if isinstance(item, Row):
            values = item._values
        elif not isinstance(item, tuple) and (len(converters) == 1 or not isinstance(item, list)):
            values = (item,)
        return tuple([convert(value) for convert, value in zip(converters, values)])

    return fields
