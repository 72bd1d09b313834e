"""The JSON of get_execution_plan: nodes, their inputs and how they are shipped."""

from __future__ import annotations

import json

import pytest
from pyflink.common import Types

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


def plan(env):
    return json.loads(env.get_execution_plan())["nodes"]


def strategies(node):
    return [link["ship_strategy"] for link in node.get("predecessors", [])]


def test_nodes_of_a_word_count(env):
    (
        env.from_collection([("a", 1)], PAIR)
        .map(lambda v: v, PAIR)
        .name("my map")
        .key_by(lambda v: v[0], Types.STRING())
        .reduce(lambda a, b: a)
        .print()
    )
    nodes = plan(env)
    assert all(set(node) >= {"id", "type", "pact", "contents", "parallelism"} for node in nodes)
    assert nodes[0]["pact"] == "Data Source"
    assert nodes[0]["type"] == "Source: Collection Source"
    assert nodes[-1]["pact"] == "Data Sink"
    assert nodes[-1]["type"] == "Sink: Print to Std. Out"
    assert {node["pact"] for node in nodes[1:-1]} == {"Operator"}
    assert {node["parallelism"] for node in nodes} == {1}
    assert any("my map" in node["type"] for node in nodes)
    assert any("Reduce" in node["type"] for node in nodes)


def test_predecessors_are_nodes(env):
    stream = env.from_collection([1], Types.INT()).map(lambda v: v, Types.INT())
    stream.union(env.from_collection([2], Types.INT())).map(lambda v: v, Types.INT()).print()
    nodes = plan(env)
    identifiers = {node["id"] for node in nodes}
    links = [link for node in nodes for link in node.get("predecessors", [])]
    assert links
    assert all(link["id"] in identifiers for link in links)
    assert {link["side"] for link in links} == {"second"}


def test_key_by_ships_by_hash(env):
    env.from_collection([1], Types.INT()).key_by(lambda v: v).map(lambda v: v).print()
    shipped = [strategy for node in plan(env) for strategy in strategies(node)]
    assert shipped.count("HASH") == 1
    assert set(shipped) == {"HASH", "FORWARD"}


@pytest.mark.parametrize(
    ("method", "strategy"),
    [
        ("rebalance", "REBALANCE"),
        ("rescale", "RESCALE"),
        ("shuffle", "SHUFFLE"),
        ("broadcast", "BROADCAST"),
        ("forward", "FORWARD"),
    ],
)
def test_partitioning(env, method, strategy):
    mapped = env.from_collection([1], Types.INT()).map(lambda v: v, Types.INT())
    getattr(mapped, method)().print()
    assert strategies(plan(env)[-1]) == [strategy]


def test_parallelism_per_node(env):
    env.set_parallelism(2)
    env.from_collection([1], Types.INT()).map(lambda v: v, Types.INT()).print().set_parallelism(3)
    nodes = plan(env)
    assert [node["parallelism"] for node in nodes] == [1, 2, 3]
    assert [strategies(node) for node in nodes] == [[], ["REBALANCE"], ["REBALANCE"]]


def test_no_operators(env):
    with pytest.raises(Exception, match="No operators defined in streaming topology"):
        env.get_execution_plan()


def test_the_plan_runs_nothing_and_keeps_the_job(env, run_printed):
    env.from_collection([1], Types.INT()).print()
    plan(env)
    assert run_printed(env) == ["1"]
