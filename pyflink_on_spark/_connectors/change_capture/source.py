"""A source of the rows of a table and of their changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.change_capture.config import CaptureConfig
from pyflink_on_spark._connectors.change_capture.reader import CaptureReader
from pyflink_on_spark._runtime.contract.connector import Source, SourceReader

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext


class CaptureSource(Source):
    """Reads the rows of a table, then their changes, in one subtask.

    A position is a place in the log of changes. While the rows are read that were there at the
    beginning, a checkpoint keeps those that are left: they cannot be read again as they were.

    Args:
        config: the table.
    """

    bounded = False
    timestamped = False
    parallel = False

    def __init__(self, config: CaptureConfig) -> None:
        self._config = config

    def splits(self, parallelism: int) -> list[CaptureConfig]:
        """Return the one split."""
        return [self._config]

    def reader(
        self, splits: Sequence[Any], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        """Return the reader, which begins with the rows if it continues from nowhere."""
        return CaptureReader(self._config, restored[0] if restored else None)
