"""Names, uids, parallelism and chaining of operators: what is accepted and what is refused."""

from __future__ import annotations

import json

import pytest
from pyflink.common import Types
from pyflink.datastream import EmbeddedRocksDBStateBackend

from compat_tests.running import collect


def test_settings_return_the_stream(env):
    stream = env.from_collection([1, 2], Types.INT()).map(lambda v: v + 1, Types.INT())
    assert stream.name("plus one") is stream
    assert stream.uid("plus-one") is stream
    assert stream.set_parallelism(1) is stream
    assert stream.set_max_parallelism(8) is stream
    assert stream.set_buffer_timeout(10) is stream
    assert stream.set_description("adds one") is stream
    assert stream.get_name() == "plus one"
    assert collect(stream) == [2, 3]


@pytest.mark.parametrize(
    "chaining",
    [
        lambda stream: stream.start_new_chain(),
        lambda stream: stream.disable_chaining(),
        lambda stream: stream.slot_sharing_group("default"),
    ],
)
def test_chaining_changes_no_result(env, chaining):
    stream = chaining(env.from_collection([1, 2]).map(lambda v: v + 1)).map(lambda v: v * 10)
    assert collect(stream) == [20, 30]


def test_chaining_off_for_the_environment(env):
    assert env.is_chaining_enabled()
    env.disable_operator_chaining()
    assert not env.is_chaining_enabled()
    assert collect(env.from_collection([1]).map(lambda v: v + 1).map(lambda v: v * 10)) == [20]


def test_names_of_operators(env):
    stream = env.from_collection([1])
    assert stream.map(lambda v: v).get_name() == "Map"
    assert stream.flat_map(lambda v: [v]).get_name() == "FlatMap"
    assert stream.filter(lambda v: v).get_name() == "Filter"
    assert stream.key_by(lambda v: v).reduce(lambda a, b: a).get_name() == "Reduce"
    assert stream.key_by(lambda v: v).sum(0).get_name() == "Reduce"


def test_a_collection_is_not_parallel(env):
    with pytest.raises(Exception, match=r"(?i)parallel"):
        env.from_collection([1], Types.INT()).set_parallelism(2)


@pytest.mark.parametrize("number", [0, -2, "2", 1.5, None, True])
@pytest.mark.parametrize(
    "operator",
    [lambda stream: stream.map(lambda v: v), lambda stream: stream.print()],
    ids=["function", "sink"],
)
def test_impossible_parallelism(env, operator, number):
    with pytest.raises(Exception, match=r"(?i)parallelism"):
        operator(env.from_collection([1])).set_parallelism(number)


@pytest.mark.parametrize("number", [0, -1, 32769, "2", 1.5, None])
def test_impossible_maximum_parallelism(env, number):
    with pytest.raises(Exception, match=r"(?i)max(imum)? ?parallelism"):
        env.from_collection([1]).map(lambda v: v).set_max_parallelism(number)
    with pytest.raises(Exception, match=r"(?i)max(imum)? ?parallelism"):
        env.set_max_parallelism(number)


def test_a_parallelism_of_minus_one_is_the_environment_s(env):
    env.set_parallelism(3)
    stream = env.from_collection([1], Types.INT()).map(lambda v: v).set_parallelism(2)
    stream.set_parallelism(-1).print().set_parallelism(2).set_parallelism(-1)
    nodes = json.loads(env.get_execution_plan())["nodes"]
    assert {node["parallelism"] for node in nodes if node["pact"] != "Data Source"} == {3}


def test_a_source_that_is_not_parallel_has_no_default(env):
    with pytest.raises(Exception, match=r"(?i)parallelism"):
        env.from_collection([1], Types.INT()).set_parallelism(-1)


def test_settings_return_the_sink(env, run_printed):
    sink = env.from_collection([1]).map(lambda v: v + 1, Types.INT()).print()
    assert sink.name("numbers") is sink
    assert sink.uid("numbers") is sink
    assert sink.set_parallelism(1) is sink
    assert sink.set_parallelism(-1) is sink
    assert sink.set_description("prints") is sink
    assert sink.disable_chaining() is sink
    assert sink.slot_sharing_group("default") is sink
    with pytest.raises(Exception, match="Node hash must be a 32 character String"):
        sink.set_uid_hash("abc")
    assert run_printed(env) == ["2"]


def test_a_buffer_timeout_may_be_endless(env):
    stream = env.from_collection([1]).map(lambda v: v)
    assert stream.set_buffer_timeout(-1) is stream
    with pytest.raises(Exception, match="timeout must be >= -1"):
        stream.set_buffer_timeout(-2)
    with pytest.raises(Exception, match="Timeout of buffer must be non-negative or -1"):
        env.set_buffer_timeout(-2)
    env.set_buffer_timeout(5)
    assert env.get_buffer_timeout() == 5
    env.set_buffer_timeout(-1)
    assert env.get_buffer_timeout() == -1
    env.set_buffer_timeout(5)
    assert env.get_buffer_timeout() == -1


@pytest.mark.whole("wants settings that nobody has touched")
def test_environment_settings_are_readable(env):
    assert env.get_parallelism() == 1
    assert env.get_max_parallelism() == -1
    assert env.get_buffer_timeout() == 100
    assert env.get_config().get_auto_watermark_interval() == 200
    env.set_parallelism(3)
    env.set_max_parallelism(16)
    env.set_buffer_timeout(5)
    assert (env.get_parallelism(), env.get_max_parallelism(), env.get_buffer_timeout()) == (
        3,
        16,
        5,
    )


def test_force_non_parallel(env):
    env.set_parallelism(2)
    stream = env.from_collection([1, 2, 3]).map(lambda v: v).force_non_parallel()
    assert sorted(collect(stream)) == [1, 2, 3]


def unfused(env):
    """Two operators that are never one."""
    first = env.from_collection([1, 2], Types.INT()).map(lambda v: v + 1, Types.INT()).uid("same")
    return first.rebalance().map(lambda v: v * 10, Types.INT())


def test_a_uid_belongs_to_one_operator(env):
    with pytest.raises(Exception, match='Hash collision on user-specified ID "same"'):
        collect(unfused(env).uid("same"))


def test_a_uid_belongs_to_one_operator_whatever_its_hash(env):
    with pytest.raises(Exception, match='Hash collision on user-specified ID "same"'):
        collect(unfused(env).uid("same").set_uid_hash("a" * 32))


def test_of_python_operators_in_a_row_only_the_first_uid_counts(env):
    stream = env.from_collection([1, 2], Types.INT()).map(lambda v: v + 1, Types.INT()).uid("same")
    assert collect(stream.map(lambda v: v * 10, Types.INT()).uid("same")) == [20, 30]


@pytest.mark.parametrize("given", ["", "u", "0" * 31, "g" * 32])
def test_a_uid_hash_is_32_hexadecimal_digits(env, given):
    with pytest.raises(Exception, match="32 character String"):
        env.from_collection([1]).set_uid_hash(given)


def test_uids_are_demanded(env):
    env.get_config().disable_auto_generated_uids()
    stream = env.from_collection([1, 2], Types.INT()).uid("numbers")
    stream = stream.map(lambda v: v + 1, Types.INT())
    stream.rebalance().map(str, Types.STRING()).uid("text").print().uid("sink")
    with pytest.raises(Exception, match="no UID or hash has been assigned to operator M"):
        env.execute()


@pytest.mark.parametrize("name", [{"uid": "plus"}, {"set_uid_hash": "0" * 32}])
def test_uids_that_are_demanded_and_given(env, name):
    env.get_config().disable_auto_generated_uids()
    stream = env.from_collection([1, 2], Types.INT()).uid("numbers")
    stream = stream.map(lambda v: v + 1, Types.INT())
    for setter, value in name.items():
        getattr(stream, setter)(value)
    stream.map(str, Types.STRING()).print().uid("sink")
    assert env.execute().get_net_runtime() >= 0, "it is not refused"


def test_storage_paths_are_as_flink_writes_paths():
    backend = EmbeddedRocksDBStateBackend()
    for given, expected in {
        "file:///a/b/": "/a/b",
        "file:/a/b": "/a/b",
        "/a/b/": "/a/b",
        "/a//b": "/a/b",
    }.items():
        backend.set_db_storage_paths(given, "/c/")
        assert backend.get_db_storage_paths() == [expected, "/c"]
