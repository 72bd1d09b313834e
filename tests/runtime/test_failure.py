"""The message for a user when a function fails."""

from __future__ import annotations

import pickle

import pytest

from pyflink_on_spark._compat.own_frames import user_traceback
from pyflink_on_spark._runtime.diagnosis import SubtaskFailure, bounded_repr, gist_of
from pyflink_on_spark.datastream import KeyedProcessFunction
from tests.runtime.rounds import results


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no repr")


def fails(value):
    return 1 // value


def message_of(build, elements):
    with pytest.raises(SubtaskFailure) as caught:
        results(build, elements)
    return str(caught.value)


def test_the_users_own_traceback_comes_first_then_operator_place_and_element():
    message = message_of(lambda s: s.map(fails, None).map(str).name("other"), [1, 0])
    lines = message.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert "in fails" in lines[1]
    assert "ZeroDivisionError" in message
    assert "_runtime" not in message
    assert "in operator 'Map', added at " in message
    assert "test_failure.py" in message.split("added at ")[1]
    assert lines[-1] == "while it worked on 0"


def test_the_gist_names_the_exception():
    class Odd(Exception):
        pass

    def odd(value):
        raise Odd("first\nsecond")

    divided = message_of(lambda s: s.map(fails, None), [0])
    assert gist_of(divided).startswith("ZeroDivisionError: ")
    assert gist_of(message_of(lambda s: s.map(odd), [0])).endswith("Odd: first")
    assert "'x'" in gist_of(message_of(lambda s: s.map(int), ["x"]))
    assert gist_of("a headline\nand more") == "a headline"
    assert gist_of("") == ""


def test_the_operator_that_failed_is_named_not_one_around_it():
    def build(stream):
        return stream.map(lambda v: v).name("before").map(fails).name("guilty").map(str)

    assert "in operator 'guilty'" in message_of(build, [0])


def test_a_function_without_python_code():
    message = message_of(lambda s: s.map(int).name("parse"), ["7", "x"])
    assert "invalid literal for int()" in message
    assert "in operator 'parse'" in message
    assert message.endswith("while it worked on 'x'")


def test_a_timer_that_fails():
    class Fails(KeyedProcessFunction):
        def process_element(self, value, ctx):
            ctx.timer_service().register_event_time_timer(7)

        def on_timer(self, timestamp, ctx):
            raise KeyError("late")

    message = message_of(lambda s: s.key_by(lambda v: v).process(Fails()).name("timers"), [1])
    assert "KeyError: 'late'" in message
    assert "in operator 'timers'" in message


def test_open_and_close_that_fail():
    class Opens(KeyedProcessFunction):
        def open(self, runtime_context):
            raise OSError("no such host")

        def process_element(self, value, ctx):
            yield value

    message = message_of(lambda s: s.key_by(lambda v: v).process(Opens()).name("opens"), [1])
    assert "no such host" in message
    assert "in operator 'opens'" in message


def test_a_failure_travels():
    failure = SubtaskFailure("text")
    copy = pickle.loads(pickle.dumps(failure))
    assert type(copy) is SubtaskFailure
    assert str(copy) == "text"


@pytest.mark.parametrize(
    ("value", "text"),
    [(1, "1"), ("a", "'a'"), ([1, 2], "[1, 2]"), (("a", 1.5), "('a', 1.5)")],
)
def test_short_reprs_are_whole(value, text):
    assert bounded_repr(value) == text


@pytest.mark.parametrize("value", ["x" * 10_000, list(range(10_000)), {i: i for i in range(999)}])
def test_long_reprs_are_cut(value):
    assert len(bounded_repr(value)) <= 300


def test_a_repr_that_fails():
    assert "Unprintable" in bounded_repr(Unprintable())


def test_causes_are_kept():
    try:
        try:
            fails(0)
        except ZeroDivisionError as error:
            raise ValueError("outer") from error
    except ValueError as error:
        text = user_traceback(error)
    assert "ZeroDivisionError" in text
    assert text.rstrip().endswith("ValueError: outer")
