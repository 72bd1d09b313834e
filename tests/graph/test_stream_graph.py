"""Parallelism, partitioning and chaining as Flink decides them."""

from __future__ import annotations

import pytest

from pyflink_on_spark._compat.errors import JobTranslationError
from pyflink_on_spark._graph.stream_graph import (
    Aligned,
    Chaining,
    Edge,
    GraphSettings,
    StreamGraph,
    Transformation,
    display_name,
)
from pyflink_on_spark._runtime.contract.plan import (
    ForwardPartitioner,
    HashPartitioner,
    RebalancePartitioner,
)
from pyflink_on_spark._runtime.operators.stateless import IdentityOperator
from tests.runtime.rounds import CutSource


def node(name, *upstream, parallelism=None, partitioner=None, python=True, **settings):
    edges = tuple(Edge(before, None, partitioner) for before in upstream)
    operator = IdentityOperator() if upstream else None
    source = None if upstream else CutSource([])
    made = Transformation(
        name, operator, edges, parallelism, None, python=python and bool(upstream), source=source
    )
    for key, value in settings.items():
        setattr(made, key, value)
    return made


def graph(*nodes, parallelism=2, **settings):
    return StreamGraph(nodes, GraphSettings(parallelism, **settings))


def partitioner(found, reader):
    (edge,) = found.inputs[reader]
    return edge.partitioner


def test_what_leads_to_a_transformation_is_found_in_the_order_of_the_program():
    source = node("source")
    left, right = node("left", source), node("right", source)
    both = node("both", right, left)
    found = graph(both)
    assert found.nodes == [source, left, right, both]
    assert [edge.reader for edge in found.outputs[source]] == [left, right]


def test_parallelism():
    source = node("source", parallel=False)
    plain, own = node("plain", source), node("own", source, parallelism=3)
    follows = node("follows", own, aligned=Aligned.INPUT)
    found = graph(plain, follows)
    assert [found.parallelism(n) for n in found.nodes] == [1, 2, 3, 3]


def test_an_operator_may_take_over_the_parallelism_of_its_reader():
    source = node("source", parallel=False)
    ahead = node("ahead", source, aligned=Aligned.READER)
    found = graph(node("reader", ahead, parallelism=4))
    assert found.parallelism(ahead) == 4
    assert graph(ahead).parallelism(ahead) == 2


def test_forward_where_the_parallelism_stays_else_rebalance():
    source = node("source")
    same, other = node("same", source), node("other", source, parallelism=3)
    found = graph(same, other)
    assert isinstance(partitioner(found, same), ForwardPartitioner)
    assert isinstance(partitioner(found, other), RebalancePartitioner)


def test_forward_that_was_asked_for_cannot_change_the_parallelism():
    other = node("other", node("source"), parallelism=3, partitioner=ForwardPartitioner())
    with pytest.raises(JobTranslationError, match="Forward partitioning does not allow change"):
        graph(other)


def test_max_parallelism():
    source = node("source")
    own = node("own", source, max_parallelism=7)
    found = graph(own)
    assert (found.max_parallelism(source), found.max_parallelism(own)) == (128, 7)
    assert graph(own, max_parallelism=9).max_parallelism(source) == 9
    assert graph(source, parallelism=200).max_parallelism(source) == 512
    with pytest.raises(JobTranslationError, match="above the maximum parallelism 32768"):
        graph(source, parallelism=40_000).max_parallelism(source)
    with pytest.raises(JobTranslationError, match="above the maximum parallelism 7"):
        graph(own, parallelism=8).max_parallelism(own)


def chain(**settings):
    source = node("s", python=False)
    first = node("a", source)
    second = node("b", first)
    for key, value in settings.items():
        setattr(second, key, value)
    return source, first, second


def test_names_of_tasks():
    source, first, second = chain()
    found = graph(second)
    assert found.task_name(second) == "Source: s -> a, b"
    assert found.task_name(source) == found.task_name(first) == "Source: s -> a, b"


def test_a_task_that_forks():
    source, first, second = chain()
    third = node("c", first)
    assert graph(second, third).task_name(source) == "Source: s -> a -> (b, c)"


@pytest.mark.parametrize(
    "settings",
    [
        {"chaining": Chaining.HEAD},
        {"chaining": Chaining.NEVER},
        {"slot_sharing_group": "other"},
        {"parallelism": 1},
    ],
)
def test_what_breaks_a_chain(settings):
    source, _, second = chain(**settings)
    found = graph(second)
    assert found.task_name(source) == "Source: s -> a"
    assert found.task_name(second) == "b"
    assert not found.python_chained(found.inputs[second][0])


def test_a_maximum_parallelism_of_its_own_breaks_python_s_chain_only():
    source, _, second = chain(max_parallelism=5)
    found = graph(second)
    assert found.task_name(source) == found.task_name(second) == "Source: s -> a -> b"
    assert not found.python_chained(found.inputs[second][0])


def test_chaining_switched_off():
    source, first, second = chain()
    found = graph(second, chaining=False)
    assert [found.task_name(n) for n in (source, first)] == ["Source: s", "a, b"]
    found = graph(second, python_chaining=False)
    assert found.task_name(source) == "Source: s -> a -> b"
    assert not found.python_chained(found.inputs[second][0])


def test_python_functions_are_fused_only_with_one_reader_and_no_shuffle():
    _, first, second = chain()
    assert graph(second).python_chained(graph(second).inputs[second][0])
    found = graph(second, node("c", first))
    assert not found.python_chained(found.inputs[second][0])
    keyed = node("keyed", first, partitioner=HashPartitioner())
    found = graph(keyed)
    assert not found.python_chained(found.inputs[keyed][0])


def test_a_display_name_says_what_sources_are():
    source, first, _ = chain()
    assert (display_name(source), display_name(first)) == ("Source: s", "a")
