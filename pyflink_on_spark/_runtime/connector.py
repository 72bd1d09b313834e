"""The two ends of a job: what a source and a sink have to be for the runtime."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.bundle import Bundle as Bundle

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.context import OperatorContext


class Source(ABC):
    """Where elements come from. Picklable; carries its whole description."""

    bounded: bool = True
    timestamped: bool = False
    parallel: bool = True
    conforms: bool = False
    """Whether its elements are what the stream's declared type says, so that nothing has to be
    converted."""

    @abstractmethod
    def splits(self, parallelism: int) -> list[Any]:
        """Cut the input into pieces that can be read independently; runs in the driver.

        Args:
            parallelism: how many subtasks will read; subtask i reads the splits i, i + parallelism, ...

        Raises:
            FileNotFoundError: or another plain error, when the input is not there.
        """

    @abstractmethod
    def read(self, split: Any, context: OperatorContext) -> Iterator[Bundle]:
        """Yield a split's elements in order, a few thousand at a time; runs in a subtask."""


class SinkWriter(ABC):
    """One subtask's end of a sink."""

    @abstractmethod
    def write(self, elements: Iterator[Any]) -> None:
        """Take over all elements of a lazy iterator."""

    def prepare_commit(self) -> list[Any]:
        """Make what was written ready, and say what the driver has to commit."""
        return []

    def close(self) -> None:  # noqa: B027 - most writers have nothing to give up
        """Release everything; after a failure too. What was not prepared is given up."""


class Sink(ABC):
    """Where elements go. Picklable; carries its whole description."""

    @abstractmethod
    def writer(self, context: OperatorContext) -> SinkWriter:
        """Return the writer of one subtask."""

    def with_input_type(self, type_info: Any) -> Sink:
        """Return this sink for a stream of the given type (a TypeInformation, or None).

        Raises:
            TypeError: if such a stream cannot be written.
        """
        return self

    def commit(self, committables: list[Any]) -> None:  # noqa: B027
        """Make visible what all writers prepared; once, in the driver. Idempotent."""

    def abort(self, committables: list[Any]) -> None:  # noqa: B027
        """Throw away what writers prepared in a job that failed."""
