"""What a running job collects, on its way into the program."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Self

from pyflink_on_spark._runtime.immutability import deserialize
from pyflink_on_spark._spark.transport.result_channel import Channel


class CollectedElements:
    """Iterates over the elements of a running job; closing it ends the job.

    Args:
        channel: where pickled elements come in.
        finish: called after the last element; raises what the job failed with.
        cancel: ends the job, and waits until it has ended.
        abandon: lets the job end without waiting for it.
    """

    def __init__(
        self,
        channel: Channel,
        finish: Callable[[], Any],
        cancel: Callable[[], None],
        abandon: Callable[[], None],
    ) -> None:
        self._elements = _elements(channel)
        self._finish, self._cancel, self._abandon = finish, cancel, abandon
        self._over = False

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        if self._over:
            raise StopIteration
        try:
            return next(self._elements)
        except StopIteration:
            self._over = True
            self._finish()
            raise
        except BaseException:  # Ctrl-C, or an element that cannot be unpickled here
            self.close()
            raise

    def close(self) -> None:
        """End the job, unless all its elements were seen."""
        if not self._over:
            self._over = True
            self._cancel()

    def __del__(self) -> None:
        if not self._over:
            with contextlib.suppress(Exception):
                self._abandon()


def _elements(channel: Channel) -> Iterator[Any]:
    for sealed in channel.batches():
        yield from map(deserialize, sealed)
