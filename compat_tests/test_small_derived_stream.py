"""A small stream that is derived from a large one does not wait for the large one's end."""

from __future__ import annotations

import pytest
from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.datastream import FlatMapFunction, KeyedCoProcessFunction
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.state import ListStateDescriptor

from compat_tests.running import collect

NUMBERS, SMALL = 5_000, 10
PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])


class Match(KeyedCoProcessFunction):
    """Emits an element of the first input once for each of the second that came before it."""

    def open(self, context):
        self.small = context.get_list_state(ListStateDescriptor("small", Types.LONG()))

    def process_element1(self, value, ctx):
        for _ in self.small.get() or ():
            yield value

    def process_element2(self, value, ctx):
        self.small.add(value)
        return []


class MatchTagged(FlatMapFunction):
    """As Match, of one stream whose elements say where they come from."""

    def open(self, context):
        self.small = context.get_list_state(ListStateDescriptor("small", Types.LONG()))

    def flat_map(self, value):
        origin, number = value
        if origin == "small":
            self.small.add(number)
        else:
            for _ in self.small.get() or ():
                yield number


@pytest.fixture
def numbers(env):
    configuration = Configuration()
    configuration.set_string("python.fn-execution.bundle.size", "100")
    env.configure(configuration)
    source = NumberSequenceSource(0, NUMBERS - 1)
    sequence = env.from_source(source, WatermarkStrategy.no_watermarks(), "n", Types.LONG())
    return sequence.map(lambda number: number, Types.LONG())


def connected(numbers):
    small = numbers.filter(lambda number: number < SMALL)
    by_key = numbers.key_by(lambda number: number % SMALL, Types.LONG())
    return by_key.connect(small.key_by(lambda number: number, Types.LONG())).process(
        Match(), Types.LONG()
    )


def united(numbers):
    large = numbers.map(lambda number: ("large", number), PAIR)
    small = numbers.filter(lambda number: number < SMALL).map(lambda n: ("small", n), PAIR)
    by_key = large.union(small).key_by(lambda value: value[1] % SMALL, Types.LONG())
    return by_key.flat_map(MatchTagged(), Types.LONG())


@pytest.mark.whole("thousands of checkpoints")
@pytest.mark.parametrize("joined", [connected, united])
def test_most_elements_of_the_large_stream_find_their_match(numbers, joined):
    found = collect(joined(numbers))
    assert len(found) == len(set(found))
    assert NUMBERS / 2 < len(found) <= NUMBERS
