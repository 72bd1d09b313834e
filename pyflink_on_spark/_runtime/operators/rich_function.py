"""Operators around function objects with several methods, or with state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.operators.operator import Operator
from pyflink_on_spark._runtime.user_function import UserFunction, close_function, open_function

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.context import OperatorContext
    from pyflink_on_spark._runtime.state.backend import KeyedStateBackend


class RichFunctionOperator(Operator):
    """Loads a function object, opens it, and closes it in the end.

    Args:
        function: the user's.
    """

    methods: tuple[str, ...] = ()
    """What the operator may call for elements and timers."""

    def __init__(self, function: UserFunction) -> None:
        self._function = function
        self._loaded: Any = None

    def open(self, context: OperatorContext) -> None:
        """Load and open the function."""
        self._context = context
        self._cursor = context.cursor
        self._loaded = self._function.load()
        open_function(self._loaded, context.runtime_context)

    def close(self) -> None:
        """Close the function."""
        if self._loaded is not None:
            close_function(self._loaded)

    def code_of_functions(self) -> Iterable[Any]:
        """Return the methods that run inside."""
        found = (getattr(self._loaded, name, None) for name in self.methods)
        return [method for method in found if method is not None]


class KeyedFunctionOperator(RichFunctionOperator):
    """A function object on a keyed stream."""

    keyed = True

    def open(self, context: OperatorContext) -> None:
        """Load and open the function."""
        self._backend = keyed_state_of(context)
        super().open(context)


def keyed_state_of(context: OperatorContext) -> KeyedStateBackend:
    """Return the keyed state that an operator on a keyed stream has."""
    if context.keyed_state is None:
        raise ValueError(f"{context.task.task_name}: there is no keyed state")
    return context.keyed_state
