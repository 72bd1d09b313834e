"""The source around a source function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.connector import Source, SourceReader
from pyflink_on_spark._connectors.functions.source.reader import FunctionReader
from pyflink_on_spark._runtime.user_code.user_function import UserFunction

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext


class FunctionSource(Source):
    """Runs a function with ``run(context)`` and ``cancel()`` in each of its subtasks.

    Args:
        function: the user's.
        bounded: whether ``run`` returns by itself.
        parallel: whether it may have more than one subtask.
    """

    timestamped = True

    def __init__(self, function: UserFunction, *, bounded: bool, parallel: bool) -> None:
        self._function = function
        self.bounded = bounded
        self.parallel = parallel

    def splits(self, parallelism: int) -> list[Any]:
        """Return one for each subtask: a function knows itself what to read."""
        return list(range(parallelism))

    def reader(
        self,
        splits: Sequence[Any],
        restored: Sequence[Any] | None,
        context: OperatorContext,
    ) -> SourceReader:
        """Return what runs one subtask's function."""
        return FunctionReader(self._function, restored, context)
