"""Which operator is to blame, and what it worked on, also where no frame of the user's says so."""

from __future__ import annotations

import pytest

from pyflink_on_spark._runtime.diagnosis import SubtaskFailure
from pyflink_on_spark.common import Time, Types, WatermarkStrategy
from pyflink_on_spark.common.watermark_strategy import TimestampAssigner
from pyflink_on_spark.datastream import (
    AsyncDataStream,
    AsyncFunction,
    KeyedProcessFunction,
    MapFunction,
    Partitioner,
    ProcessFunction,
    ProcessWindowFunction,
)
from pyflink_on_spark.datastream.window import (
    CountTumblingWindowAssigner,
    TumblingEventTimeWindows,
)
from tests.runtime.rounds import Conditions, results

PAIRS = [("a", 1), ("a", 2)]
YIELD = "let it yield its results, or return a list of them"


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class OnTimerReturns(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1])

    def on_timer(self, timestamp, ctx):
        pass


class ReturnsNumber(ProcessFunction):
    def process_element(self, value, ctx):
        return 5


class NoResults(ProcessWindowFunction):
    def process(self, key, context, elements):
        pass


class Divides(AsyncFunction):
    async def async_invoke(self, value):
        return [10 // value]


class TooFar(Partitioner):
    def partition(self, key, num_partitions):
        return num_partitions


class Unpicklable:
    def __reduce__(self):
        raise TypeError("cannot pickle 'Unpicklable' object")


def same(value):
    return value


def other(stream):
    """An operator of the same kind that is not to blame."""
    return stream.map(same).name("other")


def timed(stream):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp())
    return stream.assign_timestamps_and_watermarks(strategy)


def by_first(stream):
    return stream.key_by(lambda v: v[0])


def tumbling(stream):
    return by_first(timed(stream)).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))


def typed_maps(stream):
    """Three maps that declare one type; the second is to blame."""
    stream = stream.map(int, Types.INT()).name("first").rebalance()
    stream = stream.map(str, Types.INT()).name("guilty").rebalance()
    return stream.map(int, Types.INT()).name("third").rebalance()


NOTHING = f"the function of 'guilty' returned nothing: {YIELD}"
NUMBER = f"the function of 'guilty' returned an object of type int: {YIELD}"
ARITY = "<lambda>() takes 0 positional arguments but 1 was given"

CASES = {
    "wrong arity": (
        lambda s: other(other(s).map(lambda: 1).name("guilty")), [7],
        ARITY, ["while it worked on 7"],
    ),
    "wrong arity of flat_map": (
        lambda s: other(other(s).flat_map(lambda: [1]).name("guilty")), [7],
        ARITY, ["while it worked on 7"],
    ),
    "wrong arity of filter": (
        lambda s: other(other(s).filter(lambda: True).name("guilty")), [7],
        ARITY, ["while it worked on 7"],
    ),
    "wrong arity of a keyed map": (
        lambda s: other(by_first(s).map(lambda: 1).name("guilty")), PAIRS,
        ARITY, ["while it worked on ('a', 1)"],
    ),
    "wrong arity of reduce": (
        lambda s: other(by_first(s).reduce(lambda a: a).name("guilty")), PAIRS,
        "<lambda>() takes 1 positional argument but 2 were given", ["while it worked on ('a', 2)"],
    ),
    "flat_map returns a number": (
        lambda s: other(other(s).flat_map(lambda v: v + 1).name("guilty")), [7],
        "'int' object is not iterable", ["while it worked on 7", NUMBER],
    ),
    "flat_map returns nothing": (
        lambda s: other(other(s).flat_map(lambda v: None).name("guilty")), [7],
        "'NoneType' object is not iterable", ["while it worked on 7", NOTHING],
    ),
    "a keyed flat_map returns nothing": (
        lambda s: other(by_first(s).flat_map(lambda v: None).name("guilty")), PAIRS,
        "'NoneType' object is not iterable", ["while it worked on ('a', 1)", NOTHING],
    ),
    "process_element returns a number": (
        lambda s: other(other(s).process(ReturnsNumber()).name("guilty")), [7],
        "'int' object is not iterable", ["while it worked on 7", NUMBER],
    ),
    "on_timer returns nothing": (
        lambda s: other(by_first(timed(s)).process(OnTimerReturns()).name("guilty")), PAIRS,
        "'NoneType' object is not iterable", ["while the timer at 1 of the key 'a' fired", NOTHING],
    ),
    "a window function returns nothing": (
        lambda s: other(tumbling(s).process(NoResults()).name("guilty")), PAIRS,
        "'NoneType' object is not iterable",
        ["while it worked on TimeWindow(start=0, end=10) of the key 'a'", NOTHING],
    ),
    "a function of a count window returns nothing": (
        lambda s: other(
            by_first(s).window(CountTumblingWindowAssigner(2)).process(NoResults()).name("guilty")
        ), PAIRS,
        "'NoneType' object is not iterable",
        ["while it worked on CountWindow(id=0) of the key 'a'", NOTHING],
    ),
    "a result is not of the declared type": (
        lambda s: other(s.map(str, Types.INT()).name("guilty").rebalance()), ["seven"],
        "expected Integer, got str 'seven': an integer is required", [],
    ),
    "one of several with one declared type": (
        typed_maps, [7], "expected Integer, got str '7': an integer is required", [],
    ),
    "a result with a timestamp is not of the declared type": (
        lambda s: other(timed(s).map(str, Types.INT()).name("guilty").rebalance()), PAIRS,
        "expected Integer, got str \"('a', 1)\": an integer is required", [],
    ),
    "a keyed element is not of the declared type": (
        lambda s: by_first(other(s).map(str, Types.INT()).name("guilty")).map(same), ["seven"],
        "expected Integer, got str 'seven': an integer is required", [],
    ),
    "a filtered element is not of the declared type": (
        lambda s: other(s.map(str, Types.INT()).name("guilty").filter(bool).rebalance()), ["seven"],
        "expected Integer, got str 'seven': an integer is required", [],
    ),
    "a typed function returns nothing": (
        lambda s: other(s.map(lambda v: None, Types.INT()).name("guilty").rebalance()), [7],
        "None is allowed in the fields of a ROW and in streams without a declared type",
        ["did the function of 'guilty' return nothing?"],
    ),
    "an invalid timestamp": (
        lambda s: timed(other(s)).name("guilty").map(same), [("a", "x")],
        "an integer is required, got str 'x'", ["while it worked on ('a', 'x')"],
    ),
}  # fmt: skip


def message_of(build, elements, conditions=None):
    with pytest.raises(SubtaskFailure) as caught:
        results(build, elements, conditions)
    return str(caught.value)


@pytest.mark.parametrize("case", CASES)
def test_no_frame_of_the_users_is_needed(case):
    build, elements, error, ending = CASES[case]
    first, place, *rest = message_of(build, elements).splitlines()
    assert first.endswith(error), "no frames of the engine's, which say nothing to a user"
    assert place.startswith(f"in operator 'guilty', added at {__file__}:")
    assert rest == ending


def test_a_result_that_cannot_be_pickled():
    def build(stream):
        return other(other(stream).map(lambda v: Unpicklable()).name("guilty").rebalance())

    first, place, work = message_of(build, [7], Conditions(parallelism=2)).splitlines()
    assert first.endswith("cannot pickle 'Unpicklable' object")
    assert "in operator 'guilty'" in place
    assert "Unpicklable object" in work


def test_a_partitioner_that_returns_nonsense():
    def build(stream):
        return other(stream.partition_custom(TooFar(), lambda v: v + 1))

    first, place, work = message_of(build, [7]).splitlines()
    assert (
        first == "ValueError: the partitioner returned 1 for the key 8; expected an int from 0 to 0"
    )
    assert "in operator '_partition_custom_map_operator'" in place
    assert work == "while it worked on 7"


def test_one_function_in_two_operators():
    def double(value):
        return value * 2

    def build(stream):
        return stream.map(double).name("first").map(lambda v: None).map(double).name("second")

    lines = message_of(build, [7]).splitlines()
    assert "in operator 'second'" in lines[-3]
    assert lines[-2] == "while it worked on None"


def test_the_record_is_the_one_that_came_not_what_the_function_made_of_it():
    def strips(value):
        value = value.strip()
        return int(value)

    assert message_of(lambda s: s.map(strips), [" x "]).endswith("while it worked on ' x '")


@pytest.mark.parametrize("build", [
    lambda s: s.map(lambda v: None).name("forgets").map(lambda v: v[0]),
    lambda s: s.map(lambda v: None).name("forgets").key_by(lambda v: v[0]).map(same),
    lambda s: s.map(lambda v: None).name("forgets").filter(lambda v: v.ready),
], ids=["map", "key_by", "attribute"])  # fmt: skip
def test_who_has_returned_nothing(build):
    *_, work, advice = message_of(build, [("a", 1)]).splitlines()
    assert work == "while it worked on None"
    assert advice.startswith(
        f"the element is None: did the function of 'forgets', added at {__file__}:"
    )
    assert advice.endswith(", return nothing?")


def test_one_of_several_inputs_has_an_element_that_is_none():
    *_, advice = message_of(
        lambda s: s.map(lambda v: None).union(s).map(lambda v: v[0]), [("a", 1)]
    ).splitlines()
    assert advice == "the element is None: did the function before return nothing?"


def test_who_has_returned_nothing_elsewhere():
    def build(stream):
        return stream.map(lambda v: None).rebalance().map(lambda v: v[0]).set_parallelism(2)

    message = message_of(build, [("a", 1)])
    assert message.endswith("the element is None: did the function before return nothing?")


class Ambiguous:
    """Like an array, which compares its elements one by one."""

    def __eq__(self, other):
        raise ValueError("the truth value is ambiguous")

    __hash__ = None

    def __repr__(self):
        raise SystemExit("no repr")


def test_elements_that_cannot_be_compared_or_shown():
    def build(stream):
        return stream.map(lambda v: Ambiguous()).map(lambda v: {}.get("x")[0])

    message = message_of(build, [1])
    assert "'NoneType' object is not subscriptable" in message
    assert message.endswith("while it worked on <Ambiguous object whose repr fails: no repr>")


def test_other_mistakes_with_none_are_not_explained():
    def build(stream):
        return stream.map(lambda v: {}.get("x")[0])

    assert message_of(build, [1]).endswith("while it worked on 1")


def test_a_stop_of_the_users_own_is_shown_as_it_is():
    def first(values):
        return next(iter(values))

    message = message_of(lambda s: other(other(s).map(first).name("guilty")), [[]])
    lines = message.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert "in first" in lines[1]
    assert "\nStopIteration\nin operator 'guilty'" in message
    assert "\nwhile it worked on []\nnext() raises StopIteration when" in message
    assert "RuntimeError" not in message


def test_a_stop_inside_a_generator_of_the_users():
    def words(value):
        yield next(iter(value))

    message = message_of(lambda s: s.flat_map(words).name("guilty"), [[]])
    assert "in words" in message
    assert "\nStopIteration\n" in message
    assert "in operator 'guilty'" in message
    assert "while it worked on []" in message


def test_a_stop_that_the_users_own_code_has_met():
    def words(value):
        found = (word for word in [value] if next(iter([])))
        return list(found)

    message = message_of(lambda s: s.flat_map(words).name("guilty"), [[]])
    assert "\nRuntimeError: generator raised StopIteration\nin operator 'guilty'" in message
    assert message.endswith("while it worked on []")


def test_an_asynchronous_function():
    def build(stream):
        waiting = AsyncDataStream.ordered_wait(other(stream), Divides(), Time.seconds(9), 10)
        return other(waiting.name("guilty"))

    message = message_of(build, [5, 0, 2, 1])
    assert "in async_invoke" in message
    assert "in operator 'guilty'" in message
    assert message.endswith("while it worked on 0")


def test_a_value_for_a_state_is_told_with_the_element():
    from pyflink_on_spark.datastream.state import ValueStateDescriptor

    class Keeps(MapFunction):
        def open(self, runtime_context):
            self.state = runtime_context.get_state(ValueStateDescriptor("s", Types.INT()))

        def map(self, value):
            self.state.update(value[0])

    message = message_of(lambda s: by_first(s).map(Keeps()).name("guilty"), PAIRS)
    assert "in map\n" in message
    assert "It was put into the state 's'.\nin operator 'guilty'" in message
    assert message.endswith("while it worked on ('a', 1)")


@pytest.mark.parametrize("error", [GeneratorExit, SystemExit, StopAsyncIteration])
def test_errors_that_mean_something_to_python(error):
    def fails(value):
        raise error("on purpose")

    message = message_of(lambda s: other(other(s).map(fails).name("guilty")), [7])
    assert f"{error.__name__}: on purpose\nin operator 'guilty'" in message


def test_ctrl_c_is_no_failure():
    def interrupted(value):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        results(lambda s: s.map(interrupted), [1])


class StopsWhenPickled:
    def __reduce__(self):
        raise StopIteration


class StopsWhenUnpickled:
    def __setstate__(self, state):
        raise StopIteration

    def __getstate__(self):
        return {"a": 1}


class StopsWhenWritten:
    def __str__(self):
        raise StopIteration


@pytest.mark.parametrize("parallelism", [1, 2])
@pytest.mark.parametrize("kind", [StopsWhenPickled, StopsWhenUnpickled])
def test_elements_that_stop_when_they_are_handed_on(kind, parallelism):
    def build(stream):
        return other(stream.map(lambda v: kind() if v == 2 else v).rebalance())

    message = message_of(build, [1, 2, 3], Conditions(parallelism=parallelism))
    assert "StopIteration" in message


def test_elements_that_stop_when_they_are_written():
    def build(stream):
        return stream.map(lambda v: StopsWhenWritten() if v == 2 else v).map(str)

    assert "StopIteration" in message_of(build, [1, 2, 3])
