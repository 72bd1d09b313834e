"""The sink that calls a sink function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyflink_on_spark._connectors.functions.writer import FunctionWriter
from pyflink_on_spark._runtime.contract.connector import Sink, SinkWriter
from pyflink_on_spark._runtime.user_code.user_function import (
    UserFunction,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext


class FunctionSink(Sink):
    """Calls ``invoke`` of a function for each element.

    Args:
        function: the user's function.
    """

    def __init__(self, function: UserFunction) -> None:
        self._function = function

    def writer(self, context: OperatorContext) -> SinkWriter:
        return FunctionWriter(self._function.load(), context)
