"""How the state of operators is called in checkpoints."""

from __future__ import annotations

import pytest

from pyflink_on_spark._compat.errors import JobTranslationError
from pyflink_on_spark._graph.physical_graph import demand_uids, state_names
from pyflink_on_spark._graph.stream_graph import (
    Aligned,
    Edge,
    GraphSettings,
    StreamGraph,
    Transformation,
)
from pyflink_on_spark._runtime.contract.plan import RebalancePartitioner
from pyflink_on_spark._runtime.operators.stateless import IdentityOperator
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from tests.runtime.rounds import CutSource, job_of

HASH = "0123456789abcdef0123456789ABCDEF"


def source(uid=None, uid_hash=None):
    return Transformation(
        "source", None, (), None, None, source=CutSource([]), uid=uid, uid_hash=uid_hash
    )


def after(upstream, uid=None, uid_hash=None, *, fused=True):
    edge = Edge(upstream, None, None if fused else RebalancePartitioner())
    return Transformation(
        "map", IdentityOperator(), (edge,), None, None, python=True, uid=uid, uid_hash=uid_hash
    )


def sink(upstream, uid=None):
    return Transformation(
        "sink", IdentityOperator(), (Edge(upstream, None, None),), None, None, uid=uid
    )


def names(*nodes, python_chaining=True):
    graph = StreamGraph(nodes, GraphSettings(2, python_chaining=python_chaining))
    return list(state_names(graph).values())


def test_names_by_the_place_in_the_program():
    assert names(after(after(source()))) == ["0:source", "1:map", "2:map"]


def test_what_the_user_says():
    assert names(sink(after(source("s"), "m"), "t")) == ["s", "m", "t"]


def test_a_hash_takes_the_place_of_a_uid():
    assert names(after(source(uid_hash=HASH), "u", HASH[::-1])) == [HASH, HASH[::-1]]


@pytest.mark.parametrize(
    "nodes",
    [
        lambda: [after(source("same"), "same")],
        lambda: [after(after(source(), "same"), "same", fused=False)],
        lambda: [after(after(source(), "same", HASH), "same", fused=False)],
        lambda: [sink(after(source(), "same"), "same")],
        lambda: [sink(node, "same") for node in [after(source())] * 2],
        lambda: [source("same"), source("same")],
    ],
)
def test_a_uid_that_two_have(nodes):
    with pytest.raises(JobTranslationError, match=r'^Hash collision on user-specified ID "same"\.'):
        names(*nodes())


def test_a_hash_that_two_have():
    with pytest.raises(JobTranslationError, match=f'ID "{HASH}"'):
        names(source("a", HASH), source("b", HASH))


def test_of_fused_operators_the_first_one_has_the_uid():
    node = after(after(after(source(), "same"), "same"), "own")
    assert names(node) == ["0:source", "same", "2:map", "own"]
    with pytest.raises(JobTranslationError, match='ID "same"'):
        names(node, python_chaining=False)


def test_what_a_fused_operator_wants_may_be_taken_by_a_later_one():
    node = after(after(after(source()), "same"), "same", fused=False)
    assert names(node) == ["0:source", "1:map", "2:map", "same"]


def test_the_plan_has_the_names():
    job = job_of(lambda s: s.map(str).uid("u").set_uid_hash(HASH), CutSource([]))
    (vertex,) = job.stages[0].vertices
    assert HASH in [plan.state_id for chain in vertex.chains for plan in chain.operators]
    with pytest.raises(JobTranslationError, match="unique"):
        job_of(lambda s: s.uid("a").map(str).uid("a"), CutSource([]))


@pytest.mark.parametrize("given", ["", "u", "0" * 31, "0" * 33, "g" * 32, HASH + "\n"])
def test_a_hash_is_32_hexadecimal_digits(given):
    stream = StreamExecutionEnvironment.get_execution_environment().from_collection([1])
    for settable in (stream.map(str), stream.print()):
        with pytest.raises(ValueError, match="32 character String"):
            settable.set_uid_hash(given)


def demand(*nodes):
    demand_uids(StreamGraph(nodes, GraphSettings(2, python_chaining=True)))


def test_uids_are_demanded_of_all_that_can_have_one():
    for well in (
        sink(source("s"), "t"),
        after(after(source("s"), "m")),
        after(source("s"), None, HASH),
    ):
        demand(well)
    with pytest.raises(JobTranslationError, match="assigned to operator source"):
        demand(sink(source(), "t"))
    with pytest.raises(JobTranslationError, match="assigned to operator map"):
        demand(after(after(source("s"), "m"), fused=False))


@pytest.mark.parametrize("aligned", [Aligned.INPUT, Aligned.READER])
def test_what_is_added_for_keys_needs_no_uid(aligned):
    keyed = Transformation(
        "keys", IdentityOperator(), (Edge(source("s"), None, None),), None, None, aligned=aligned
    )
    demand(sink(keyed, "t"))
