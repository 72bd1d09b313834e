"""key_by: which elements share a key, and what a keyed stream refuses."""

from __future__ import annotations

from operator import itemgetter

import pytest
from pyflink.common import Types
from pyflink.datastream import KeySelector

from compat_tests.running import collect, collect_sorted


class ByWord(KeySelector):
    def get_key(self, value):
        return value[0]


PAIRS = [("a", 1), ("b", 2), ("a", 3)]


@pytest.mark.parametrize("selector", [lambda v: v[0], ByWord(), itemgetter(0)])
@pytest.mark.parametrize("key_type", [None, Types.STRING()])
def test_selectors(env, selector, key_type):
    sums = env.from_collection(PAIRS).key_by(selector, key_type).sum(1)
    assert collect_sorted(sums) == [("a", 1), ("a", 4), ("b", 2)]


@pytest.mark.parametrize("parallelism", [2])
def test_each_key_in_one_subtask_and_in_order(env):
    values = [(i % 5, i) for i in range(50)]
    lists = (
        env.from_collection(values, Types.TUPLE([Types.INT(), Types.INT()]))
        .map(lambda v: (v[0], [v[1]]))
        .key_by(lambda v: v[0], Types.INT())
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
        .filter(lambda v: len(v[1]) == 10)
    )
    results = collect_sorted(lists)
    assert [(key, sorted(found)) for key, found in results] == [
        (key, list(range(key, 50, 5))) for key in range(5)
    ]


def test_elements_pass_as_they_are(env):
    keyed = env.from_collection(PAIRS, Types.TUPLE([Types.STRING(), Types.INT()])).key_by(
        lambda v: v[0]
    )
    assert keyed.filter(lambda v: True).get_type() == Types.TUPLE([Types.STRING(), Types.INT()])
    assert collect(keyed.map(lambda v: v)) == PAIRS


def test_key_by_on_a_keyed_stream_keys_anew(env):
    sums = (
        env.from_collection([("a", 1, 1), ("b", 1, 2), ("a", 2, 4)])
        .key_by(lambda v: v[0])
        .key_by(lambda v: v[1])
        .reduce(lambda a, b: (a[0], a[1], a[2] + b[2]))
    )
    assert collect_sorted(sums) == [("a", 1, 1), ("a", 1, 3), ("a", 2, 4)]


@pytest.mark.parametrize(
    "call",
    [
        lambda keyed: keyed.rebalance(),
        lambda keyed: keyed.shuffle(),
        lambda keyed: keyed.rescale(),
        lambda keyed: keyed.broadcast(),
        lambda keyed: keyed.forward(),
        lambda keyed: keyed.partition_custom(lambda k, n: 0, lambda v: v),
    ],
)
def test_no_other_partitioning(env, call):
    with pytest.raises(Exception, match="Cannot override partitioning for KeyedStream"):
        call(env.from_collection(PAIRS).key_by(lambda v: v[0]))


@pytest.mark.parametrize(
    "call",
    [
        lambda keyed: keyed.name("n"),
        lambda keyed: keyed.uid("u"),
        lambda keyed: keyed.set_uid_hash("h"),
        lambda keyed: keyed.set_parallelism(1),
        lambda keyed: keyed.set_max_parallelism(1),
        lambda keyed: keyed.force_non_parallel(),
        lambda keyed: keyed.set_buffer_timeout(1),
        lambda keyed: keyed.start_new_chain(),
        lambda keyed: keyed.disable_chaining(),
        lambda keyed: keyed.slot_sharing_group("g"),
    ],
)
def test_no_settings(env, call):
    with pytest.raises(Exception, match="for KeyedStream is not supported"):
        call(env.from_collection(PAIRS).key_by(lambda v: v[0]))


def test_selector_that_fails_fails_the_job(env):
    def broken(value):
        raise LookupError(f"no key for {value}")

    with pytest.raises(Exception, match="LookupError: no key for 1"):
        collect(env.from_collection([1]).key_by(broken).map(lambda v: v))


@pytest.mark.parametrize(
    "key_type",
    [3, "x", int, Types.INT, [Types.INT()]],
    ids=["number", "text", "class", "function", "list"],
)
def test_key_types_that_are_none(env, key_type):
    with pytest.raises(Exception, match=r"\S"):
        env.from_collection(PAIRS).key_by(lambda v: v[0], key_type)
