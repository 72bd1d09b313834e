"""Lets statements be nested as deep as a program likes."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from pyflink_on_spark._sql.errors import ValidationError

_Args = ParamSpec("_Args")
_Result = TypeVar("_Result")

_STACK_BYTES = 1 << 29
"""Address space; memory is taken for what is used."""
_FRAMES = 400_000
_calls = threading.local()


def at_any_depth(function: Callable[_Args, _Result]) -> Callable[_Args, _Result]:
    """Let a function recurse as deep as its arguments need.

    A call that does not fit into the stack of its thread is repeated in a thread with a large one.
    So the function must not change anything before it has recursed.

    Raises:
        ValidationError: even that stack is too small.
    """

    @functools.wraps(function)
    def called(*args: _Args.args, **kwargs: _Args.kwargs) -> _Result:
        if getattr(_calls, "inside", False):
            return function(*args, **kwargs)  # the outermost call is repeated
        _calls.inside = True
        try:
            return function(*args, **kwargs)
        except RecursionError:
            pass
        finally:
            _calls.inside = False
        try:
            return _with_large_stack(lambda: function(*args, **kwargs))
        except RecursionError:
            raise ValidationError(
                "SQL validation failed. The statement is nested too deeply. Divide it into views, "
                "or replace a long chain of one operator by IN, or by a join with a table."
            ) from None

    return called


def _with_large_stack(function: Callable[[], _Result]) -> _Result:
    results: list[_Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        _calls.inside = True
        try:
            results.append(function())
        except BaseException as error:  # noqa: BLE001 - raised by the caller
            errors.append(error)

    limit, stack = sys.getrecursionlimit(), threading.stack_size(_STACK_BYTES)
    try:
        sys.setrecursionlimit(max(limit, _FRAMES))
        thread = threading.Thread(target=run, name="deep-statement", daemon=True)
        thread.start()
    finally:
        threading.stack_size(stack)
    try:
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
    if errors:
        raise errors[0]
    return results[0]
