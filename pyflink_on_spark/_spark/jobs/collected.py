"""What a running job collects, on its way into the program."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Protocol, Self

from pyflink_on_spark._cluster.transport.result_channel import Channel
from pyflink_on_spark._runtime.elements.immutability import deserialize


class EndsEarly(Protocol):
    """A job that can end before its input does."""

    def cancel(self) -> None:
        """End the job, and wait until it has ended."""
        ...

    def interrupt(self) -> None:
        """End the job as if its process was killed, and wait until it has ended."""
        ...

    def abandon(self) -> None:
        """Let the job end, without waiting for that."""
        ...


class CollectedElements:
    """Iterates over the elements of a running job; closing it ends the job.

    Args:
        channel: where pickled elements come in.
        finish: called after the last element; raises what the job failed with.
        job: the job, to end it early.
    """

    def __init__(self, channel: Channel, finish: Callable[[], Any], job: EndsEarly) -> None:
        self._elements = _elements(channel)
        self._finish, self._job = finish, job
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
        except KeyboardInterrupt:
            self._over = True
            self._job.interrupt()
            raise
        except BaseException:  # an element that cannot be unpickled here, for example
            self.close()
            raise

    def close(self) -> None:
        """End the job, unless all its elements were seen."""
        if not self._over:
            self._over = True
            self._job.cancel()

    def __del__(self) -> None:
        if not self._over:
            with contextlib.suppress(Exception):
                self._job.abandon()


def _elements(channel: Channel) -> Iterator[Any]:
    for sealed in channel.batches():
        for payload in sealed:
            yield deserialize(payload)
