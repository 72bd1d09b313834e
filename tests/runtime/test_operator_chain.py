"""A straight line of operators: elements, watermarks, side outputs, forks."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.elements.bundle import (
    MAX_WATERMARK,
    MIN_TIMESTAMP,
    Bundle,
    ChannelStatus,
    Cursor,
    EndOfInput,
    Watermark,
)
from pyflink_on_spark._runtime.elements.time import WatermarkRhythm
from pyflink_on_spark._runtime.operators.timestamps import AssignTimestamps
from pyflink_on_spark._runtime.task import exchange_writer
from pyflink_on_spark._runtime.task import operator_chain as watermark_output
from pyflink_on_spark._runtime.task.exchange_writer import (
    ForkOutput,
    LocalOutput,
    SideOutput,
)
from pyflink_on_spark._runtime.task.operator_chain import (
    NoOutput,
    OperatorChain,
    Pacing,
    WatermarkOutput,
)
from pyflink_on_spark._runtime.task.subtask import NEVER
from pyflink_on_spark._runtime.user_code import UserFunction
from tests.runtime.harness import FakeClock


class Recorder:
    """An output that notes what comes: elements with their timestamps, and events."""

    def __init__(self):
        self.seen = []

    def write(self, elements, cursor):
        self.seen += [(value, cursor.timestamp) for value in elements]

    def write_bundle(self, bundle):
        self.seen += zip(bundle.values, bundle.timestamps, strict=True)

    def event(self, event):
        self.seen.append(event)


class Logs(Operator):
    """Passes on, and emits its name and the notifications."""

    def __init__(self, name, log=None):
        self.name, self.log = name, log

    def process(self, elements):
        for value in elements:
            if self.log is not None:
                self.log.append((self.name, value))
            yield value

    def advance_watermark(self, watermark):
        return [f"{self.name} watermark {watermark}"]

    def advance_processing_time(self, now):
        return [f"{self.name} time {now}"]

    def end_input(self):
        return [f"{self.name} end"]


class TwoInputs(Operator):
    def inputs(self):
        return (lambda elements: ((1, value) for value in elements)), self.process

    def process(self, elements):
        return ((2, value) for value in elements)


class Line:
    """A chain that processes at once what comes in."""

    def __init__(self, *operators, main, sides=None, channels=("c",)):
        ports = dict.fromkeys(channels, 0)
        self.chain = OperatorChain(list(operators), Cursor(), main, sides or {}, ports, Pacing())

    def receive(self, port, bundle):
        self.chain.receive(port, bundle)
        self.work()

    def event(self, channel, event):
        self.chain.take_event(channel, event)
        self.work()

    def work(self):
        while self.chain.inbox:
            self.chain.step(NEVER)


def a_line(*operators, **parts):
    recorder = Recorder()
    return Line(*operators, main=recorder, **parts), recorder


def test_an_element_goes_the_whole_way_before_the_next_one():
    log = []
    line, recorder = a_line(Logs("a", log), Logs("b", log))
    line.receive(0, Bundle([1, 2], [10, 20]))
    assert log == [("a", 1), ("b", 1), ("a", 2), ("b", 2)]
    assert recorder.seen == [(1, 10), (2, 20)]


def test_without_operators_and_without_output():
    line, recorder = a_line()
    line.receive(0, Bundle([1]))
    assert recorder.seen == [(1, None)]
    log = []
    line = Line(Logs("a", log), main=NoOutput())
    line.receive(0, Bundle([1]))
    line.event("c", EndOfInput())
    assert log == [("a", 1)]


def test_timestamps_of_a_bundle_do_not_stay_for_the_next():
    line, recorder = a_line()
    line.receive(0, Bundle([1], [10]))
    line.receive(0, Bundle([2]))
    assert recorder.seen == [(1, 10), (2, None)]


def test_keys_make_pairs():
    line, recorder = a_line()
    line.receive(0, Bundle([1, 2], None, ["a", "b"]))
    assert [value for value, _ in recorder.seen] == [("a", 1), ("b", 2)]


def test_ports():
    line, recorder = a_line(TwoInputs(), channels="ab")
    line.receive(0, Bundle(["x"]))
    line.receive(1, Bundle(["y"]))
    assert [value for value, _ in recorder.seen] == [(1, "x"), (2, "y")]


def test_what_a_watermark_brings_forth_goes_through_the_rest_before_it():
    log = []
    line, recorder = a_line(Logs("a", log), Logs("b", log))
    line.event("c", Watermark(5))
    assert log == [("b", "a watermark 5")]
    assert [s if isinstance(s, Watermark) else s[0] for s in recorder.seen] == [
        "a watermark 5", "b watermark 5", Watermark(5),
    ]  # fmt: skip


def test_the_end_comes_after_the_last_watermark_once():
    line, recorder = a_line(Logs("a"), channels="cd")
    line.event("c", EndOfInput())
    assert recorder.seen == []
    line.event("d", EndOfInput())
    line.event("d", EndOfInput())
    assert [s if not isinstance(s, tuple) else s[0] for s in recorder.seen] == [
        f"a watermark {MAX_WATERMARK}", Watermark(MAX_WATERMARK), "a end", EndOfInput(),
    ]  # fmt: skip


def test_idleness_is_told_when_all_inputs_are_idle_and_when_no_more():
    line, recorder = a_line(channels="cd")
    line.event("c", Watermark(7))
    line.event("d", ChannelStatus(True))
    line.event("c", ChannelStatus(True))
    line.event("c", ChannelStatus(True))
    line.event("d", ChannelStatus(False))
    assert recorder.seen == [Watermark(7), ChannelStatus(True), ChannelStatus(False)]


def test_processing_time():
    line, recorder = a_line(Logs("a"), Logs("b"))
    line.chain.tick(3)
    assert [value for value, _ in recorder.seen] == ["a time 3", "b time 3"]


class Knows(Logs):
    """Knows when it needs the clock."""

    def __init__(self, time):
        super().__init__("knows")
        self._time = time

    def next_processing_time(self):
        return self._time


@pytest.mark.parametrize(
    ("operators", "time"),
    [
        ([], None),
        ([Knows(None)], None),
        ([Knows(9), Knows(None), Knows(7)], 7),
        ([Knows(9), Logs("cannot tell")], 0),
    ],
)
def test_when_the_clock_matters_next(operators, time):
    line, _ = a_line(*operators)
    assert line.chain.next_processing_time() == time


class Passes(Operator):
    """Passes on; a function of a user's might be in it."""

    def process(self, elements):
        return elements


class Itself:
    def extract_timestamp(self, value, record_timestamp):
        return value[0] if isinstance(value, list) else value


def assigning(elements=3, delay=0, before=(), milliseconds=None, clock=None):
    """A chain that ends with an assigner of timestamps, and what notes its output."""
    rhythm = WatermarkRhythm(elements, milliseconds)
    assigner = AssignTimestamps(UserFunction.of(Itself()), delay, rhythm=rhythm)
    recorder, clock = Recorder(), clock or FakeClock()
    line = Line(*before, assigner, main=WatermarkOutput(assigner, recorder, clock))
    assigner.open(SimpleNamespace(cursor=line.chain.cursor))
    return line, recorder


def watermarks(cuts, **how):
    line, recorder = assigning(**how)
    for cut in cuts:
        line.receive(0, Bundle(list(cut)))
    line.event("c", Watermark(1_000))
    line.event("c", EndOfInput())
    return [s.timestamp if isinstance(s, Watermark) else s for s in recorder.seen]


@pytest.mark.parametrize("before", [(), (Passes(),)])
@pytest.mark.parametrize("bundle", [1, 2, 4096])
@pytest.mark.parametrize("cuts", [[[5, 9, 2, 1, 12]], [[5], [9, 2], [], [1, 12]]])
def test_a_watermark_after_every_so_many_elements(monkeypatch, cuts, bundle, before):
    monkeypatch.setattr(watermark_output, "BUNDLE_SIZE", bundle)
    assert watermarks(cuts, before=before) == [
        (5, 5), (9, 9), (2, 2), 8, (1, 1), (12, 12), MAX_WATERMARK, EndOfInput(),
    ]  # fmt: skip


@pytest.mark.parametrize("before", [(), (Passes(),)])
def test_an_element_that_can_change_is_handed_on_as_it_was(before):
    line, recorder = assigning(before=before)
    emitted = [[1], [2]]
    line.receive(0, Bundle(emitted))
    emitted[0].append("later")
    assert recorder.seen == [([1], 1), ([2], 2)]


@pytest.mark.parametrize("how", [{"delay": None}, {"elements": None}])
def test_no_watermark_but_the_last(how):
    found = watermarks([[1, 2, 3, 4]], **how)
    assert [s for s in found if isinstance(s, int)] == [MAX_WATERMARK]


def test_a_watermark_when_the_clock_makes_one_due():
    line, recorder = assigning(elements=None, milliseconds=10)
    line.chain.tick(10)
    assert recorder.seen == []  # there was no element
    line.receive(0, Bundle([7]))
    line.chain.tick(19)
    line.chain.tick(20)
    line.chain.tick(30)
    assert recorder.seen == [(7, 7), Watermark(6)]


def test_a_watermark_comes_before_what_a_slow_function_has_brought_forth():
    clock = FakeClock()
    line, recorder = assigning(elements=None, milliseconds=10, clock=clock)
    line.receive(0, Bundle([7]))
    clock.time = 12
    line.receive(0, Bundle([9]))
    assert recorder.seen == [(7, 7), Watermark(6), (9, 9)]


def test_the_last_watermark_of_an_input_that_ends_in_an_interval_is_that_of_the_end():
    clock = FakeClock()
    line, recorder = assigning(elements=None, milliseconds=100, clock=clock)
    line.receive(0, Bundle([7]))
    line.event("c", EndOfInput())
    assert recorder.seen == [(7, 7), Watermark(MAX_WATERMARK), EndOfInput()]


def test_a_short_interval_passes_while_a_task_ends():
    line, recorder = assigning(elements=None, milliseconds=10)
    line.receive(0, Bundle([7]))
    line.event("c", EndOfInput())
    assert recorder.seen == [(7, 7), Watermark(6), Watermark(MAX_WATERMARK), EndOfInput()]


def test_after_the_end_the_clock_brings_nothing():
    line, recorder = assigning(elements=None, milliseconds=1_000)
    line.receive(0, Bundle([7]))
    line.event("c", EndOfInput())
    line.chain.tick(5_000)
    assert recorder.seen[-1] == EndOfInput()


class SecondsWorked:
    """A clock that moves by a second with each element that a function takes."""

    def __init__(self):
        self.time = 0.0

    def __call__(self):
        return self.time


class Slow(Operator):
    def __init__(self, now):
        self.now = now

    def process(self, elements):
        for value in elements:
            self.now.time += 1
            yield value


def test_what_there_is_no_time_for_waits():
    now, recorder = SecondsWorked(), Recorder()
    chain = OperatorChain([Slow(now)], Cursor(), recorder, {}, {"c": 0}, Pacing(now))
    chain.receive(0, Bundle([1, 2, 3], [10, 20, 30]))
    chain.take_event("c", Watermark(30))
    chain.step(deadline=2.0)
    assert recorder.seen == [(1, 10), (2, 20)]
    chain.step(deadline=2.0)
    assert recorder.seen == [(1, 10), (2, 20), (3, 30)]
    chain.step(deadline=2.0)
    assert recorder.seen[-1] == Watermark(30)
    assert not chain.inbox
    assert chain.records == 3


class Sides(Operator):
    """Emits each element to a side output, changed afterwards, with its own timestamp."""

    def __init__(self):
        self.line = None

    def process(self, elements):
        for value in elements:
            self.line.side_output("tag", value)
            self.line.side_output("nobody", value)
            value.append("changed")
            yield value


def test_side_outputs_have_elements_as_they_were_and_their_timestamps():
    first, second = Recorder(), Recorder()
    operator = Sides()
    line, main = a_line(operator, sides={"tag": SideOutput([first, second])})
    operator.line = line.chain
    line.receive(0, Bundle([[1], [2]], [10, 20]))
    assert first.seen == second.seen == [([1], 10), ([2], 20)]
    assert main.seen == [([1, "changed"], 10), ([2, "changed"], 20)]
    line.event("c", EndOfInput())
    assert first.seen[-2:] == [Watermark(MAX_WATERMARK), EndOfInput()]


def test_each_edge_of_a_fork_has_elements_of_its_own():
    class Changing(Recorder):
        def write(self, elements, cursor):
            for value in elements:
                value.append("mine")
                self.seen.append((value, cursor.timestamp))

    first, second = Changing(), Changing()
    line = Line(main=ForkOutput([first, second], True))
    line.receive(0, Bundle([[1], [2]], [10, 20]))
    assert first.seen == second.seen == [([1, "mine"], 10), ([2, "mine"], 20)]
    line.event("c", Watermark(3))
    assert first.seen[-1] == second.seen[-1] == Watermark(3)


@pytest.mark.parametrize("bundle", [1, 2, 4096])
@pytest.mark.parametrize("timestamped", [True, False])
def test_a_local_edge(monkeypatch, bundle, timestamped):
    monkeypatch.setattr(exchange_writer, "BUNDLE_SIZE", bundle)
    inner, recorder = a_line(channels=(-1,))
    edge = LocalOutput(
        inner.receive,
        0,
        inner.event,
        -1,
        timestamped,
        isolate=True,
    )
    line = Line(main=edge)

    def growing():
        value = []
        for number in range(3):
            value.append(number)
            yield value

    line.chain.cursor.timestamp = 5
    line.chain.feed(0, growing())
    line.event("c", EndOfInput())
    at = 5 if timestamped else None
    assert recorder.seen == [
        ([0], at), ([0, 1], at), ([0, 1, 2], at), Watermark(MAX_WATERMARK), EndOfInput(),
    ]  # fmt: skip


@pytest.mark.parametrize("idle", [False, True])
def test_the_rest_of_a_chain_that_is_cut_has_its_event_time(idle):
    class Passes(Operator):
        def process(self, elements):
            return elements

    line, recorder = a_line(Passes(), Passes())
    line.event("c", Watermark(10))
    line.event("c", ChannelStatus(idle))
    recorder.seen.clear()
    _, rest = line.chain.cut(1, -1, (), time.monotonic)
    assert rest.watermark == 10
    rest.take_event(-1, Watermark(5))
    rest.take_event(-1, ChannelStatus(idle=False))
    rest.take_event(-1, Watermark(20))
    while rest.inbox:
        rest.step(NEVER)
    assert recorder.seen == [ChannelStatus(idle=False)] * idle + [Watermark(20)]


def test_a_source_that_was_idle_holds_others_back_after_a_restart():
    line, _ = a_line(channels=("source", "c"))
    line.event("c", Watermark(10))
    line.event("source", ChannelStatus(idle=True))
    restored, recorder = a_line(channels=("source", "c"))
    restored.chain.load_time(line.chain.save_time())
    assert restored.chain.watermark == 10
    restored.event("source", Watermark(15))
    restored.event("c", Watermark(20))
    assert recorder.seen == [Watermark(10), Watermark(15)]


def test_no_channel_has_a_watermark_at_first():
    line, _ = a_line()
    assert line.chain.watermark == MIN_TIMESTAMP


def test_only_operators_that_follow_the_clock_are_asked():
    class Clockless(Operator):
        def process(self, elements):
            return elements

    line, _ = a_line(Clockless())
    assert not line.chain.follows_clock
    line, recorder = a_line(Clockless(), Logs("a"))
    assert line.chain.follows_clock
    line.chain.tick(7)
    assert recorder.seen == [("a time 7", None)]
