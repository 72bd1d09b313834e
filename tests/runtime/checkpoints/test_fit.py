"""Parts of a checkpoint without an owner in the job are refused, unless they are empty."""

from __future__ import annotations

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.checkpoint import Found, JobLayout, check_restore
from pyflink_on_spark._runtime.checkpoints.slot_state import (
    OperatorSubtaskState,
    SlotState,
    TaskStateSnapshot,
)
from pyflink_on_spark._runtime.contract.plan import source_names
from pyflink_on_spark._runtime.state.operator_state import OperatorSnapshot, OperatorState
from pyflink_on_spark.datastream import MapFunction
from tests.runtime.checkpoints.checkpointed import stages
from tests.runtime.rounds import CutSource, RunningJob, job_of

JOB = JobLayout({"count": 128, "0:map": 128}, {"events"}, {"out"})


def state_of(operators=(), sources=()):
    state = SlotState()
    found = {
        name: OperatorSubtaskState(operator=content) for name, content in dict(operators).items()
    }
    state.add(0, TaskStateSnapshot(1, found, dict(sources)))
    return state


def check(state, committables=(), owners=JOB, ignore_unclaimed=False):
    check_restore(Found("chk-1", state, committables), owners, ignore_unclaimed=ignore_unclaimed)


FULL = OperatorSnapshot({"list": [1]})


def test_what_has_an_owner():
    check(state_of({"count": FULL}, {"events": [3]}), [("out", "file")])


@pytest.mark.parametrize(
    ("state", "committables", "what"),
    [
        (state_of({"sum": FULL}), [], "state of the operator 'sum'"),
        (state_of({"sum": OperatorSnapshot({}, {"united": [1]})}), [], "operator 'sum'"),
        (state_of({"sum": OperatorSnapshot({}, {}, {"rules": {1: 2}})}), [], "operator 'sum'"),
        (state_of({}, {"1:events": [3]}), [], "the positions of the source '1:events'"),
        (state_of({}, {"done": []}), [], "the positions of the source 'done'"),
        (state_of({}, {"count": [3]}), [], "the positions of the source 'count'"),
        (state_of(), [("out", 1), ("old", 2)], "what is to be committed by the sink 'old'"),
    ],
)
def test_what_has_none(state, committables, what):
    with pytest.raises(CheckpointError, match=rf"chk-1 has .*{what}, which this job has not"):
        check(state, committables)
    check(state, committables, ignore_unclaimed=True)


def test_an_operator_without_state_may_go():
    check(state_of({"gone": OperatorSnapshot()}))


@pytest.mark.parametrize("ignore", [False, True])
def test_another_number_of_key_groups(ignore):
    owners = JobLayout({"count": 64}, (), ())
    with pytest.raises(CheckpointError, match=r"128 for 'count'; the job has 64"):
        check(state_of({"count": FULL}), owners=owners, ignore_unclaimed=ignore)
    check(state_of({"count": OperatorSnapshot()}), owners=owners)
    adaptable = JobLayout({"count": 64}, (), (), adaptable={"count"})
    check(state_of({"count": FULL}), owners=adaptable, ignore_unclaimed=ignore)


def test_empty_lists_and_maps_are_no_state():
    state = OperatorState()
    state.list_state("list").add(1)
    assert state.snapshot() == OperatorSnapshot({"list": [1]})
    state.list_state("list").clear()
    state.union_list_state("united")
    assert state.snapshot() == OperatorSnapshot()


class Same(MapFunction):
    def map(self, value):
        return value


def test_of_a_job_without_state_only_its_source_counts():
    job = RunningJob(job_of(lambda s: s.map(Same()), CutSource([1, 2, 3], (2,))))
    job.round()
    state = SlotState.from_bytes(job.save(1)[1])
    (source,) = state.sources
    check(state, owners=JobLayout({}, {source}, ()))
    with pytest.raises(CheckpointError, match="the positions of the source"):
        check(state, owners=JobLayout({}, (), ()))


def test_the_names_of_sources():
    assert source_names(stages(2)) == {"src"}
