"""Common parts of the window tests: windows in milliseconds, and functions that show them."""

from __future__ import annotations

from typing import Any

from pyflink.common import Time
from pyflink.datastream import AggregateFunction, ProcessWindowFunction, WindowFunction
from pyflink.datastream.window import (
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)

from compat_tests.pacing import timed


def ms(count: int) -> Time:
    return Time.milliseconds(count)


def tumbling(size: int, offset: int = 0) -> Any:
    return TumblingEventTimeWindows.of(ms(size), ms(offset))


def sliding(size: int, slide: int, offset: int = 0) -> Any:
    return SlidingEventTimeWindows.of(ms(size), ms(slide), ms(offset))


def session(gap: int) -> Any:
    return EventTimeSessionWindows.with_gap(ms(gap))


def keyed_by_first(stream: Any) -> Any:
    return stream.key_by(lambda v: v[0])


def elements(env: Any, *times: int, key: str = "k") -> Any:
    """One key's elements (key, time) with these timestamps, in this order, keyed."""
    return keyed_by_first(timed(env.from_collection([(key, at) for at in times])))


class Contents(ProcessWindowFunction):
    """Emits (key, start, end, times of the elements)."""

    def process(self, key, context, elements):
        window = context.window()
        yield key, window.start, window.end, [v[1] for v in elements]


class AppliedContents(WindowFunction):
    """The same for apply()."""

    def apply(self, key, window, inputs):
        yield key, window.start, window.end, [v[1] for v in inputs]


class Times(ProcessWindowFunction):
    """Emits the times of the elements, for windows of any kind."""

    def process(self, key, context, elements):
        yield [v[1] for v in elements]


class Average(AggregateFunction):
    """The average of the elements' times."""

    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value[1], accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a, acc_b):
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


def add_times(a: Any, b: Any) -> Any:
    return a[0], a[1] + b[1]
