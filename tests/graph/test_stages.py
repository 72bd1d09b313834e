"""Programs into chains, vertices and stages."""

from __future__ import annotations

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.contract.plan import (
    ExchangePlan,
    ForwardPartitioner,
    GlobalPartitioner,
    HashPartitioner,
    LocalPlan,
    RebalancePartitioner,
)
from pyflink_on_spark._runtime.operators.rolling import RollingOperator
from pyflink_on_spark._runtime.operators.stateless import ConvertOperator, CopyMutableOperator
from pyflink_on_spark._runtime.task.operator_chain import with_key_groups
from pyflink_on_spark.common import Types, WatermarkStrategy
from pyflink_on_spark.datastream import OutputTag, ProcessFunction
from tests.runtime.rounds import CutSource, job_of

TAG = OutputTag("side", Types.LONG())


class Pass(ProcessFunction):
    def process_element(self, value, ctx):
        yield value


def same(value):
    return value


def by_value(stream):
    return stream.key_by(same)


def add(a, b):
    return a + b


def stages(build, parallelism=2, **settings):
    return job_of(build, CutSource([]), parallelism, **settings).stages


def shape(found):
    """The operators' names: stages of vertices of chains."""
    return [
        [[[o.name for o in s.operators] for s in vertex.chains] for vertex in stage.vertices]
        for stage in found
    ]


def operators(found, kind):
    return [plan.operator for plan in operator_plans(found, kind)]


def operator_plans(found, kind):
    return [
        plan
        for stage in found
        for vertex in stage.vertices
        for chain in vertex.chains
        for plan in chain.operators
        if isinstance(plan.operator, kind)
    ]


def exchanges(found):
    return [
        output.edge
        for stage in found
        for vertex in stage.vertices
        for chain in vertex.chains
        for output in chain.outputs
        if isinstance(output.edge, ExchangePlan)
    ]


@pytest.mark.parametrize(
    "build",
    [
        lambda s: s.map(same),
        lambda s: by_value(s.map(same)).reduce(add).rebalance().map(same),
        lambda s: s.union(s.map(same)).shuffle().map(same),
    ],
)
def test_parallelism_one_throughout_is_one_region(build):
    (stage,) = stages(build, 1)
    (vertex,) = stage.vertices
    assert vertex.inputs == ()
    assert vertex.parallelism == 1


def test_an_exchange_begins_a_level():
    found = stages(lambda s: by_value(s.rebalance().map(same)).reduce(add))
    assert [[r.parallelism for r in stage.vertices] for stage in found] == [[1], [2], [2]]
    kinds = [type(edge.partitioner) for edge in exchanges(found)]
    assert kinds == [RebalancePartitioner, HashPartitioner]


def test_targets_and_channels_are_numbered_through():
    found = stages(lambda s: by_value(s.rebalance().map(same)).reduce(add), 3)
    vertices = [vertex for stage in found for vertex in stage.vertices]
    assert [(r.first_subtask_id, r.parallelism) for r in vertices] == [(0, 1), (1, 3), (4, 3)]
    plans = exchanges(found)
    assert [(e.first_channel, e.senders, e.first_subtask_id, e.receivers) for e in plans] == [
        (0, 1, 1, 3), (1, 3, 4, 3),
    ]  # fmt: skip
    assert [i.exchange for r in vertices for i in r.inputs] == plans


def test_what_is_known_of_an_exchange():
    found = stages(lambda s: by_value(s.rebalance().map(same)).reduce(add), max_parallelism=16)
    first, second = exchanges(found)
    assert (first.keyed, second.keyed) == (False, True)
    assert second.max_parallelism == 16
    assert not second.timestamped
    assert not first.isolate, "nobody else holds what a source emits"
    assert second.isolate


def test_key_types_reach_both_ends_of_an_exchange():
    def build(stream):
        return stream.key_by(same, Types.LONG()).reduce(add).key_by(same).reduce(add)

    found = stages(build)
    hashing = [
        e.partitioner for e in exchanges(found) if isinstance(e.partitioner, HashPartitioner)
    ]
    assert hashing == [HashPartitioner(Types.LONG()), HashPartitioner()]
    keyed = operator_plans(found, RollingOperator)
    assert [plan.key_type for plan in keyed] == [Types.LONG(), None]


def test_key_groups_of_a_checkpoint():
    def build(stream):
        return by_value(by_value(stream).reduce(add)).reduce(add).uid("second")

    found = stages(build, parallelism=100)
    name = operator_plans(found, RollingOperator)[-1].state_id
    adapted = with_key_groups(found, {name: 128})
    assert [edge.max_parallelism for edge in exchanges(found)][-2:] == [256, 256]
    assert [edge.max_parallelism for edge in exchanges(adapted)][-2:] == [256, 128]
    for stages_of, counts in ((found, [256, 256]), (adapted, [256, 128])):
        plans = operator_plans(stages_of, RollingOperator)
        assert [plan.max_parallelism for plan in plans] == counts
        vertices = [vertex for stage in stages_of for vertex in stage.vertices]
        assert [i.exchange for r in vertices for i in r.inputs] == exchanges(stages_of)
    with pytest.raises(CheckpointError, match="has 99 key groups, and a parallelism of 100"):
        with_key_groups(found, {name: 99})


@pytest.mark.parametrize("settings", [{}, {"max_parallelism": 256}])
def test_who_has_set_the_number_of_key_groups(settings):
    found = stages(lambda s: by_value(s).reduce(add), **settings)
    plan = operator_plans(found, RollingOperator)[0]
    assert plan.max_parallelism_set == bool(settings)


def test_timestamps_travel_where_there_are_any():
    def build(stream):
        strategy = WatermarkStrategy.for_monotonous_timestamps()
        return by_value(stream.assign_timestamps_and_watermarks(strategy)).reduce(add).map(same)

    assert [edge.timestamped for edge in exchanges(stages(build))][-1]


def test_in_batch_a_rolling_aggregation_gives_timestamps():
    def build(stream):
        return by_value(stream).reduce(add).rebalance().map(same)

    mode = {"execution.runtime-mode": "BATCH"}
    assert [e.timestamped for e in exchanges(stages(build, configuration=mode))] == [False, True]
    assert [e.timestamped for e in exchanges(stages(build))] == [False, False]


def test_a_fork_ends_a_segment():
    def build(stream):
        both = stream.map(same)
        return both.map(same).union(both.filter(same))

    (stage,) = stages(build, 1)
    (vertex,) = stage.vertices
    outputs = [len(chain.outputs) for chain in vertex.chains]
    assert max(outputs) == 2
    edges = [o.edge for s in vertex.chains for o in s.outputs]
    assert all(isinstance(edge, LocalPlan) for edge in edges)
    assert len({edge.channel for edge in edges}) == len(edges)
    assert all(edge.chain > index for index, s in enumerate(vertex.chains)
               for edge in (o.edge for o in s.outputs))  # fmt: skip


def test_a_side_output_leaves_from_the_middle_of_a_segment():
    def build(stream):
        main = stream.process(Pass())
        return main.map(same, Types.LONG()).union(main.get_side_output(TAG))

    (stage,) = stages(build, 1)
    tags = [o.side_tag for s in stage.vertices[0].chains for o in s.outputs if o.side_tag]
    assert [tag.split("/")[1] for tag in tags] == ["side"]


def test_a_watermark_assigner_ends_its_segment():
    def build(stream):
        strategy = WatermarkStrategy.for_monotonous_timestamps()
        return stream.assign_timestamps_and_watermarks(strategy).map(same)

    chains = shape(stages(build, 1))[0][0]
    assert any(names[-1:] == ["Timestamps/Watermarks"] for names in chains)


def test_a_forward_edge_that_meets_a_deeper_level_becomes_an_exchange():
    """A union of a stream with what became of it after a shuffle: one input is a stage early."""

    def build(stream):
        one = stream.rebalance().map(same)
        return one.union(one.rebalance().map(same)).map(same)

    found = stages(build)
    kinds = [type(edge.partitioner) for edge in exchanges(found)]
    assert ForwardPartitioner in kinds
    depths = [len(stage.vertices) for stage in found]
    assert depths == [1, 1, 1]


def test_every_change_of_parallelism_is_an_exchange():
    found = stages(lambda s: s.map(same).set_parallelism(3).map(same).set_parallelism(1))
    assert all(not isinstance(e.partitioner, GlobalPartitioner) for e in exchanges(found))
    assert [e.receivers for e in exchanges(found)] == [3, 1]


def test_types_are_applied_where_data_leaves_the_worker_only():
    chained = stages(lambda s: s.map(same, Types.FLOAT()).map(same), 1)
    boundary = stages(lambda s: s.map(same, Types.FLOAT()).rebalance().map(same), 1)
    count = len(operators(chained, ConvertOperator))
    assert len(operators(boundary, ConvertOperator)) == count + 1


def test_what_a_function_may_still_change_is_isolated():
    after_map = stages(lambda s: s.map(same).rebalance().map(same), 1)
    after_source = stages(lambda s: s.rebalance().map(same), 1)
    chained = stages(lambda s: s.map(same).map(same), 1)
    counts = [len(operators(f, CopyMutableOperator)) for f in (after_map, after_source, chained)]
    assert counts == [1, 0, 0], "the sink takes elements as they are at that moment"


def test_state_has_stable_names():
    def names(parallelism):
        found = stages(lambda s: by_value(s).reduce(add).uid("mine").map(same), parallelism)
        return [
            plan.state_id
            for stage in found
            for vertex in stage.vertices
            for chain in vertex.chains
            for plan in chain.operators
            if plan.state_id is not None
        ]

    assert "mine" in names(1)
    assert names(1) == names(2)
    assert len(set(names(2))) == len(names(2))
