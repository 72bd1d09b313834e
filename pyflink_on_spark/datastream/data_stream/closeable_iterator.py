"""Iterates over the collected elements of a job."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark.common.typeinfo import TypeInformation


class CloseableIterator:
    """The elements of a running job, as they come. Closing it ends the job.

    Args:
        j_closeable_iterator: a generator of the elements.
        type_info: their type.
    """

    def __init__(self, j_closeable_iterator, type_info: TypeInformation | None = None):
        self._elements = j_closeable_iterator
        self._type_info = type_info

    def __iter__(self):
        return self

    def __next__(self):
        return self.next()

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        self.close()

    def next(self) -> Any:
        """Return the next element.

        Raises:
            StopIteration: when the job has ended.
            JobExecutionError: when it has failed.
        """
        return next(self._elements)

    def close(self) -> None:
        """End the job, if it still runs."""
        self._elements.close()
