"""A checkpoint's parts are dealt out to other subtasks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyflink_on_spark._runtime.checkpoints.task_state import (
    OperatorSubtaskState,
    split_redistribute,
)
from pyflink_on_spark._runtime.key_groups.ranges import key_groups_of
from pyflink_on_spark._runtime.state.operator_state import OperatorSnapshot
from pyflink_on_spark._runtime.state.snapshot import KeyGroupState


def part(groups, maximum, split=()):
    keyed = {group: KeyGroupState({}, {"s": {None: {group: group}}}) for group in groups}
    return OperatorSubtaskState(keyed, OperatorSnapshot({"list": list(split)}), maximum)


@given(st.integers(1, 30), st.data())
def test_each_subtask_gets_its_key_groups_and_nothing_is_lost(maximum, data):
    before, after = (data.draw(st.integers(1, maximum)) for _ in range(2))
    used = data.draw(st.sets(st.integers(0, maximum - 1)))
    parts = [
        part([g for g in key_groups_of(i, before, maximum) if g in used], maximum, [i, -i])
        for i in range(before)
    ]
    dealt = split_redistribute(parts, after)
    for index, share in enumerate(dealt):
        assert share.max_parallelism == maximum
        assert list(share.keyed) == [g for g in key_groups_of(index, after, maximum) if g in used]
        assert all(state.entries == [("s", None, g, g)] for g, state in share.keyed.items())
    elements = [e for share in dealt for e in share.operator.split["list"]]
    assert sorted(elements) == sorted(e for i in range(before) for e in (i, -i))


def test_without_parts_there_is_nothing():
    assert not any(split_redistribute([], 3))
    assert len(split_redistribute([], 3)) == 3


def test_the_parts_must_agree():
    with pytest.raises(ValueError, match="different numbers of key groups"):
        split_redistribute([part([], 4), part([], 8)], 2)


@pytest.mark.parametrize(
    "content",
    [
        {"keyed": {1: KeyGroupState({})}},
        {"operator": OperatorSnapshot({"a": [1]})},
        {"operator": OperatorSnapshot({}, {"a": [1]})},
        {"operator": OperatorSnapshot({}, {}, {"a": {1: 2}})},
    ],
)
def test_what_is_there_is_true(content):
    assert OperatorSubtaskState(**content)
    assert not OperatorSubtaskState()
