"""ProcessFunction without state: generators, iterables, None; the context without timestamps."""

from __future__ import annotations

import pytest
from pyflink.common import Types
from pyflink.datastream import ProcessFunction

from compat_tests.running import collect

LOWEST = -(2**63)


class Evens(ProcessFunction):
    def process_element(self, value, ctx):
        if value % 2 == 0:
            yield value
            yield value * 10


class EvensAsList(ProcessFunction):
    def process_element(self, value, ctx):
        return [value, value * 10] if value % 2 == 0 else None


@pytest.mark.parametrize("function", [Evens(), EvensAsList()])
def test_generator_list_and_none(env, function):
    stream = env.from_collection([1, 2, 3, 4]).process(function)
    assert collect(stream) == [2, 20, 4, 40]


def test_declared_type(env):
    stream = env.from_collection([1, 2]).process(Evens(), Types.LONG())
    assert stream.get_type() == Types.LONG()
    assert collect(stream) == [2, 20]


def test_time_without_timestamps(env):
    class Times(ProcessFunction):
        def process_element(self, value, ctx):
            timers = ctx.timer_service()
            yield ctx.timestamp(), timers.current_watermark()
            yield timers.current_processing_time() > 1_600_000_000_000

    assert collect(env.from_collection([1]).process(Times())) == [(LOWEST, LOWEST), True]


def test_timers_need_a_key(env):
    class Registers(ProcessFunction):
        def process_element(self, value, ctx):
            ctx.timer_service().register_event_time_timer(1)
            yield value

    with pytest.raises(Exception, match="only supported on a keyed stream"):
        collect(env.from_collection([1]).process(Registers()))


def test_keyed_stream_wants_a_keyed_function(env):
    with pytest.raises(TypeError, match="KeyedProcessFunction is required for KeyedStream"):
        env.from_collection([1]).key_by(lambda x: x).process(Evens())


@pytest.mark.one_attempt("an attribute is no state")
def test_an_instance_keeps_its_own_attributes(env):
    class Previous(ProcessFunction):
        def open(self, runtime_context):
            self.previous = None

        def process_element(self, value, ctx):
            yield self.previous, value
            self.previous = value

    assert collect(env.from_collection([1, 2, 3]).process(Previous())) == [
        (None, 1),
        (1, 2),
        (2, 3),
    ]


@pytest.mark.pyflink_bug("None from a function crosses no boundary of an untyped stream")
@pytest.mark.parametrize("boundary", [lambda s: s, lambda s: s.rebalance().map(lambda v: v)])
def test_none_crosses_a_boundary(env, boundary):
    stream = env.from_collection([1, 2]).map(lambda v: None if v == 1 else v)
    assert collect(boundary(stream)) == [None, 2]
