"""Window operations of any kind, drawn by hypothesis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from pyflink_on_spark.common import Time
from pyflink_on_spark.datastream.functions import AggregateFunction, ProcessWindowFunction
from pyflink_on_spark.datastream.window import (
    ContinuousEventTimeTrigger,
    CountTrigger,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindows,
    PurgingTrigger,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)


class Contents(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        times = (window.start, window.end) if hasattr(window, "start") else ()
        yield key, times, [element[1:] for element in elements]


class Mean(AggregateFunction):
    def create_accumulator(self):
        return "", 0, 0

    def add(self, value, accumulator):
        return value[0], accumulator[1] + value[2], accumulator[2] + 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a[0], a[1] + b[1], a[2] + b[2]


def subtract(a: Any, b: Any) -> Any:
    return a[0], max(a[1], b[1]), a[2] * 2 - b[2]


def add(a: Any, b: Any) -> Any:
    return a[0], max(a[1], b[1]), a[2] + b[2]


ASSIGNERS = {
    "tumbling": lambda a, b: TumblingEventTimeWindows.of(_ms(a), _ms(b % a)),
    "sliding": lambda a, b: SlidingEventTimeWindows.of(_ms(a), _ms(b), _ms(a % b)),
    "session": lambda a, b: EventTimeSessionWindows.with_gap(_ms(a)),
    "global": lambda a, b: GlobalWindows.create(),
}
TRIGGERS = {
    "default": lambda n: None,
    "event time": lambda n: EventTimeTrigger.create(),
    "continuous": lambda n: ContinuousEventTimeTrigger.of(_ms(n)),
    "count": CountTrigger.of,
    "purging count": lambda n: PurgingTrigger.of(CountTrigger.of(n)),
    "purging event time": lambda n: PurgingTrigger.of(EventTimeTrigger.create()),
}
FUNCTIONS = {
    "reduce": lambda windows, op: windows.reduce(op),
    "reduce and process": lambda windows, op: windows.reduce(op, Contents()),
    "aggregate": lambda windows, op: windows.aggregate(Mean()),
    "process": lambda windows, op: windows.process(Contents()),
}


@dataclass(frozen=True)
class WindowJob:
    """A window operation."""

    assigner: str
    size: int
    slide: int
    trigger: str
    count: int
    lateness: int
    function: str

    def windows(self, stream: Any, late: Any) -> Any:
        windows = stream.window(ASSIGNERS[self.assigner](self.size, self.slide))
        trigger = TRIGGERS[self.trigger](self.count)
        if trigger is not None:
            windows = windows.trigger(trigger)
        if self.lateness:
            windows = windows.allowed_lateness(self.lateness)
        return windows.side_output_late_data(late)

    def results(self, windows: Any) -> Any:
        # what is merged comes in the order of windows, so a merging reduce has to commute
        reduce = add if self.assigner == "session" else subtract
        return FUNCTIONS[self.function](windows, reduce)


@st.composite
def window_jobs(
    draw: Any, regular: bool = False, timely: bool = False, contents: bool = False
) -> WindowJob:
    """Draw an operation.

    Args:
        draw: hypothesis'.
        regular: only what the loops for regular windows can do.
        timely: only such whose results do not depend on when watermarks come, unless data is late.
        contents: only windows with a start, the default trigger, and their contents as the result.
    """
    assigners = ["tumbling", "sliding"] if regular else sorted(ASSIGNERS)
    triggers = ["default", "event time"]
    if not regular:
        triggers = ["count", "purging count", *triggers, "purging event time", "continuous"]
    if contents:
        assigners, triggers = ["tumbling", "sliding", "session"], ["default"]
    if timely:
        triggers = [name for name in triggers if name != "continuous"]
    assigner = draw(st.sampled_from(assigners))
    if assigner == "global":
        triggers = [name for name in triggers if "count" in name] or ["count"]
    return WindowJob(
        assigner,
        draw(st.integers(1, 25)),
        draw(st.integers(1, 25)),
        draw(st.sampled_from(triggers)),
        draw(st.integers(1, 6)),
        draw(st.sampled_from([0, 0, 7, 40])),
        draw(st.sampled_from(["process"] if contents else sorted(FUNCTIONS))),
    )


def _ms(number: int) -> Time:
    return Time.milliseconds(number)
