"""flat_map: any number of results per element, from anything that can be iterated."""

from __future__ import annotations

import pytest
from pyflink.common import Types
from pyflink.datastream import FlatMapFunction

from compat_tests.running import Journal, collect, collect_sorted


class Split(FlatMapFunction):
    def flat_map(self, value):
        yield from value.split()


class SplitList(FlatMapFunction):
    def flat_map(self, value):
        return value.split()


@pytest.mark.parametrize("function", [Split(), SplitList(), str.split, lambda s: iter(s.split())])
def test_generators_lists_and_iterators(env, function):
    stream = env.from_collection(["to be", "", "or"]).flat_map(function, Types.STRING())
    assert collect(stream) == ["to", "be", "or"]


def test_whatever_can_be_iterated(env):
    results = {"string": "ab", "dict": {"k": 1}, "tuple": (1, 2), "range": range(2), "empty": []}
    stream = env.from_collection(list(results)).flat_map(lambda kind: results[kind])
    assert collect(stream) == ["a", "b", "k", 1, 2, 0, 1]


def test_none_fails_the_job(env):
    stream = env.from_collection([1]).flat_map(lambda x: None)
    with pytest.raises(Exception, match="'NoneType' object is not iterable"):
        collect(stream)


def test_none_inside_the_results_is_an_element(env):
    stream = env.from_collection([1]).flat_map(lambda x: [x, None]).map(repr)
    assert collect(stream) == ["1", "None"]


@pytest.mark.parametrize("parallelism", [1, 2])
def test_word_count(env):
    counts = (
        env.from_collection(["to be or", "not to be"])
        .flat_map(Split(), Types.STRING())
        .map(lambda word: (word, 1), Types.TUPLE([Types.STRING(), Types.INT()]))
        .key_by(lambda pair: pair[0], Types.STRING())
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
    )
    assert collect_sorted(counts) == [
        ("be", 1), ("be", 2), ("not", 1), ("or", 1), ("to", 1), ("to", 2),
    ]  # fmt: skip


def test_a_generator_is_consumed_lazily_through_the_chain(env, tmp_path):
    journal = Journal(tmp_path / "calls")

    def produce(value):
        for i in range(2):
            journal.write(f"made{i}")
            yield i

    def consume(value):
        journal.write(f"used{value}")
        return value

    collect(env.from_collection([0]).flat_map(produce).map(consume))
    assert journal.lines() == ["made0", "used0", "made1", "used1"]
