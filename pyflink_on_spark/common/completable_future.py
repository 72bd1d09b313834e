"""The result of something that may still be running."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, Future, InvalidStateError
from typing import Any

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name

__all__ = ["CompletableFuture"]


class CompletableFuture:
    """A value that is available later; it can be waited for, asked for, or cancelled.

    Args:
        j_completable_future: a ``concurrent.futures.Future``.
        py_class: what ``result`` makes of the future's value, or None for the value itself.
    """

    def __init__(
        self, j_completable_future: Any, py_class: Callable[[Any], Any] | None = None
    ) -> None:
        source: Future[Any] = own_handle(
            j_completable_future, Future, "CompletableFuture(j_completable_future)"
        )
        # A running concurrent Future refuses to be cancelled, a CompletableFuture does not: it
        # drops the value and never stops the work. So this one follows the source.
        self._future: Future[Any] = Future()
        self._py_class = py_class
        source.add_done_callback(self._follow)

    def cancel(self) -> bool:
        """Cancel this future, if it has no value yet.

        Returns:
            Whether this future is now cancelled.
        """
        return self._future.cancel()

    def cancelled(self) -> bool:
        """True if this future was cancelled."""
        return self._future.cancelled()

    def done(self) -> bool:
        """True once there is a value or an error, or this future was cancelled."""
        return self._future.done()

    def result(self) -> Any:
        """Wait for the value and return it.

        Raises:
            CancelledError: this future was cancelled.
            Exception: what was raised in place of a value.
        """
        value = self._future.result()
        return value if self._py_class is None else self._py_class(value)

    def exception(self) -> BaseException | None:
        """Return the error that came in place of a value; None if there is none so far."""
        if not self._future.done():
            return None
        if self._future.cancelled():
            return CancelledError()
        return self._future.exception()

    def __str__(self) -> str:
        return f"CompletableFuture@{id(self):x}[{self._state()}]"

    def _state(self) -> str:
        error = self.exception()
        if error is not None:
            return f"Completed exceptionally: {type(error).__name__}: {error}"
        return "Completed normally" if self.done() else "Not completed"

    def _follow(self, source: Future[Any]) -> None:
        try:
            if source.cancelled():
                self._future.cancel()
            elif (error := source.exception()) is not None:
                self._future.set_exception(error)
            else:
                self._future.set_result(source.result())
        except InvalidStateError:
            return  # cancelled in the meantime: nobody wants the value


__getattr__ = missing_name(__name__)
