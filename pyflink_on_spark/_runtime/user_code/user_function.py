"""A user's function as it was when it was added to the job."""

from __future__ import annotations

import functools
import inspect
import pickle
import sys
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
    name, value = _unpicklable_part(function)
    where = f"it holds {name} = {type(value).__qualname__} object" if name else ""
    if type(value).__module__.partition(".")[0] == "pyspark":
        return (
            f"{describe(function)} cannot be sent to the workers: {where}, and Spark can only be "
            "used where the job is described, not in its functions. Read what they need before, or "
            "make a stream of a DataFrame with pyflink_on_spark.extensions.from_spark."
        )
    return (
        f"{describe(function)} cannot be sent to the workers: {error}{'; ' if where else ''}{where}"
        ". Create such objects in open(), or inside the function."
    )


def _unpicklable_part(function: Any) -> tuple[str | None, Any]:
    for name, value in _captured(function).items():
        try:
            cloudpickle.dumps(value)
        except Exception:  # noqa: BLE001 - that is what is asked
            return name, value
    return None, None


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


def capture_classes() -> dict[str, bytes]:
    """Return the classes that the running script defines at its top level, pickled by value.

    Pickles name a class by its module. Elements of the script's own classes name ``__main__``,
    which is another program in a worker: there, ``install_classes`` puts them beside what is in it.
    """
    found: dict[str, bytes] = {}
    for name, value in list(vars(sys.modules["__main__"]).items()):
        if isinstance(value, type) and value.__module__ == "__main__":
            try:
                found[name] = cloudpickle.dumps(value, protocol=5)
            except Exception:  # noqa: BLE001 - it only counts if an element is of that class
                continue
    return found


def install_classes(captured: dict[str, bytes]) -> None:
    """Make the classes of a script known to this process.

    Args:
        captured: what ``capture_classes`` returned in the process of the script.
    """
    main: Any = sys.modules["__main__"]
    for name, pickled in captured.items():
        setattr(main, name, cloudpickle.loads(pickled))
