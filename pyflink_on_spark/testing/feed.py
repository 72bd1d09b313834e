"""A source of the elements that a test pushes, when the test pushes them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from pyflink_on_spark._runtime.contract.connector import Source, SourceReader
from pyflink_on_spark._runtime.contract.context import OperatorContext
from pyflink_on_spark._runtime.elements.bundle import Bundle, ChannelStatus, Watermark
from pyflink_on_spark.testing.same_process import SameProcess


class Feed(SameProcess):
    """The bundles and events that were pushed and not read yet."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: deque[Bundle | Watermark | ChannelStatus] = deque()
        self.ended = False


class FeedSource(Source):
    """Reads a feed, in one subtask.

    Args:
        feed: where a test puts elements and watermarks.
    """

    timestamped = True
    parallel = False

    def __init__(self, feed: Feed) -> None:
        self._feed = feed

    def splits(self, parallelism: int) -> list[Any]:
        """Return the only split."""
        return [None]

    def reader(
        self, splits: Sequence[Any], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        """Return a reader of the feed."""
        return _FeedReader(self._feed)


class _FeedReader(SourceReader):
    def __init__(self, feed: Feed) -> None:
        self._feed = feed

    @property
    def ended(self) -> bool:  # type: ignore[override]
        return self._feed.ended and not self._feed.waiting

    def poll(self) -> Bundle | Watermark | ChannelStatus | None:
        return self._feed.waiting.popleft() if self._feed.waiting else None

    def snapshot(self) -> list[Any]:
        return []
