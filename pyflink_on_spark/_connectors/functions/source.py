"""The source that runs a source function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.functions.reader import FunctionReader
from pyflink_on_spark._runtime.contract.connector import Source, SourceReader
from pyflink_on_spark._runtime.user_code.user_function import UserFunction

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext


class FunctionSource(Source):
    """Runs a function with ``run(context)`` and ``cancel()`` in each subtask.

    Args:
        function: the user's function.
        bounded: whether ``run`` returns without a call of ``cancel``.
        parallel: whether the source may have more than one subtask.
    """

    timestamped = True

    def __init__(self, function: UserFunction, *, bounded: bool, parallel: bool) -> None:
        self._function = function
        self.bounded = bounded
        self.parallel = parallel

    def splits(self, parallelism: int) -> list[Any]:
        """Return one split for each subtask, without content."""
        return list(range(parallelism))

    def reader(
        self,
        splits: Sequence[Any],
        restored: Sequence[Any] | None,
        context: OperatorContext,
    ) -> SourceReader:
        return FunctionReader(self._function, restored, context)
