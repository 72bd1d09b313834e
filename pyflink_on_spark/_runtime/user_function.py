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
        except Exception as error:
            raise TypeError(_complaint(function, error)) from error
        return cls(payload, describe(function))

    def load(self) -> Any:
        """Return a fresh copy."""
        return pickle.loads(self.payload)


def describe(function: Any) -> str:
    """Return a short name for a function or a function object."""
    if isinstance(function, functools.partial):
        return f"partial of {describe(function.func)}"
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def _complaint(function: Any, error: Exception) -> str:
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
        except Exception:
            return f"{name} = {type(value).__qualname__} object"
    return None


def _captured(function: Any) -> dict[str, Any]:
    plain = inspect.unwrap(getattr(function, "__func__", function))
    if inspect.isfunction(plain):
        names = inspect.getclosurevars(plain)
        return {**names.nonlocals, **names.globals}
    return dict(getattr(function, "__dict__", {}))
