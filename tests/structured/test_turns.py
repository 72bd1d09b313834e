"""The order in which a slot takes the rows of its channels."""

from __future__ import annotations

import pytest

from pyflink_on_spark._runtime.task.exchange_writer import ChannelRow
from pyflink_on_spark._spark.structured.slot import in_turns
from pyflink_on_spark.common import Types
from pyflink_on_spark.datastream import KeyedBroadcastProcessFunction, StreamExecutionEnvironment
from pyflink_on_spark.datastream.state import MapStateDescriptor
from tests.structured.in_process import QueryEngine
from tests.structured.jobs import results_of

RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())


def taken(*places):
    """The places, channel and number, of rows in the order in which they are taken."""
    rows = [ChannelRow(0, channel, seq, b"") for channel, seq in places]
    return [(row.channel, row.seq) for row in in_turns(rows)]


def test_a_channel_keeps_its_order():
    assert taken((0, 2), (0, 0), (0, 1)) == [(0, 0), (0, 1), (0, 2)]


def test_a_channel_with_large_numbers_does_not_wait_for_one_with_small_numbers():
    assert taken((0, 900), (0, 901), (1, 0), (1, 1)) == [(0, 900), (1, 0), (0, 901), (1, 1)]


def test_a_channel_goes_on_alone_when_the_others_are_done():
    assert taken((0, 5), (1, 7), (1, 8), (1, 9)) == [(0, 5), (1, 7), (1, 8), (1, 9)]


class Rule(KeyedBroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.get_broadcast_state(RULES).get(value)

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(*value)


@pytest.mark.parametrize("key", ["a", "b", "c", "d"])
def test_rules_for_many_slots_do_not_come_after_elements_for_one(key):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(4)
    rules = env.from_collection([(key, 1)]).rebalance().broadcast(RULES)
    elements = env.from_collection([key, key]).key_by(lambda value: value, Types.STRING())
    results = results_of(elements.connect(rules).process(Rule()), QueryEngine())
    assert results == [(key, 1)] * 2
