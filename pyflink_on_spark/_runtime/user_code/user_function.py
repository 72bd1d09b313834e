"""A user's function as it was when it was added to the job."""

from __future__ import annotations

import functools
import inspect
import pickle
from dataclasses import dataclass
from typing import Any

import cloudpickle


@dataclass(frozen=True)
class UserFunction:
    """A function, pickled at once, so that later changes to it or its closure are not seen.

    Args:
        payload: the function as cloudpickle writes it.
        description: its name, for messages.
    """

    payload: bytes
    description: str

    @classmethod
    def of(cls, function: Any) -> UserFunction:
        """Pickle a function, a function object or anything else that the job carries along.

        Raises:
            TypeError: if it holds something that cannot be pickled; says what and where.
        """
        try:
            payload = cloudpickle.dumps(function, protocol=5)
        except Exception as error:  # noqa: BLE001 - so may pickling
            raise TypeError(_complaint(function, error)) from None
        return cls(payload, describe(function))

    def load(self) -> Any:
        """Return a fresh copy."""
        return pickle.loads(self.payload)


def describe(function: Any) -> str:
    """Return a short name for a function or a function object."""
    if isinstance(function, PlainFunction):
        return describe(function.plain)
    if isinstance(function, functools.partial):
        return f"partial of {describe(function.func)}"
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def _complaint(function: Any, error: Exception) -> str:
    if isinstance(function, PlainFunction):
        function = function.plain
    holder = _unpicklable_part(function)
    where = f"; it holds {holder}" if holder else ""
    return (
        f"{describe(function)} cannot be sent to the workers: {error}{where}. "
        "Create such objects in open(), or inside the function."
    )


def _unpicklable_part(function: Any) -> str | None:
    for name, value in _captured(function).items():
        try:
            cloudpickle.dumps(value)
        except Exception:  # noqa: BLE001 - that is what is asked
            return f"{name} = {type(value).__qualname__} object"
    return None


def _captured(function: Any) -> dict[str, Any]:
    plain = inspect.unwrap(getattr(function, "__func__", function))
    if inspect.isfunction(plain):
        names = inspect.getclosurevars(plain)
        return {**names.nonlocals, **names.globals}
    return dict(getattr(function, "__dict__", {}))


class PlainFunction:
    """A plain callable in the shape of a function class: an object with one method of it.

    Args:
        method: the name of the method, for example ``map``.
        function: what it does.
    """

    def __init__(self, method: str, function: Any) -> None:
        self._method = method
        setattr(self, method, function)

    @property
    def plain(self) -> Any:
        """The callable itself."""
        return getattr(self, self._method)


def open_function(function: Any, runtime_context: Any) -> None:
    """Call the user's ``open`` if there is one."""
    if hasattr(function, "open"):
        function.open(runtime_context)


def close_function(function: Any) -> None:
    """Call the user's ``close`` if there is one."""
    if hasattr(function, "close"):
        function.close()


def code_of(function: Any) -> Any:
    """Return the code object of a callable, or None if it has no Python code of its own."""
    while isinstance(function, functools.partial):
        function = function.func
    function = getattr(function, "__func__", function)
    if not hasattr(function, "__code__") and not isinstance(function, type):
        function = getattr(type(function).__call__, "__func__", type(function).__call__)
    return getattr(function, "__code__", None)
