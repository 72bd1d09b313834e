"""`cache()`: the same elements for several jobs."""

from __future__ import annotations

import pytest
from pyflink.common import Types
from pyflink.datastream.data_stream import CachedDataStream


def test_several_jobs_use_a_cached_stream(env):
    cached = env.from_collection([1, 2, 3], Types.INT()).map(lambda n: n * 10, Types.INT()).cache()
    assert isinstance(cached, CachedDataStream)
    assert cached.get_type() == Types.INT()
    for plus in (1, 2):
        with cached.map(lambda n, plus=plus: n + plus).execute_and_collect() as found:
            assert list(found) == [10 + plus, 20 + plus, 30 + plus]
    with cached.execute_and_collect() as found:
        assert list(found) == [10, 20, 30]


def test_a_cached_stream_can_be_partitioned(env):
    cached = env.from_collection([1, 2, 3, 4], Types.INT()).cache()
    sums = cached.key_by(lambda n: n % 2, Types.INT()).reduce(lambda a, b: a + b)
    with sums.execute_and_collect() as found:
        assert list(found) == [1, 2, 4, 6]


def test_invalidating_a_stream_that_no_job_has_used(env):
    cached = env.from_collection([1, 2], Types.INT()).cache()
    cached.invalidate()
    with cached.execute_and_collect() as found:
        assert list(found) == [1, 2]


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("name", ("n",)),
        ("get_name", ()),
        ("uid", ("u",)),
        ("set_uid_hash", ("a" * 32,)),
        ("set_parallelism", (1,)),
        ("set_max_parallelism", (8,)),
        ("force_non_parallel", ()),
        ("set_buffer_timeout", (3,)),
        ("start_new_chain", ()),
        ("disable_chaining", ()),
        ("slot_sharing_group", ("g",)),
        ("set_description", ("d",)),
        ("cache", ()),
    ],
)
def test_a_cached_stream_has_no_operator_to_set(env, method, arguments):
    cached = env.from_collection([1], Types.INT()).cache()
    with pytest.raises(Exception, match=r"."):
        getattr(cached, method)(*arguments)


def test_a_keyed_stream_cannot_be_cached(env):
    keyed = env.from_collection([1], Types.INT()).key_by(lambda n: n)
    with pytest.raises(Exception, match="Cache for KeyedStream is not supported"):
        keyed.cache()
