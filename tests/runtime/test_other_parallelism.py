"""A savepoint of two subtasks, taken over by one and by three: no state is lost or doubled."""

from __future__ import annotations

import pytest

from pyflink_on_spark._runtime.checkpoints.slot_state import SlotState
from pyflink_on_spark._runtime.elements.immutability import deserialize
from pyflink_on_spark.testing import StreamHarness
from tests.runtime.whole_state import ELEMENTS, all_state, checksum, content_of, is_all


def content(harness):
    _, whole = deserialize(harness.snapshot())
    return content_of(SlotState.from_bytes(whole))


@pytest.fixture
def two():
    with StreamHarness(all_state, parallelism=2) as harness:
        for element in ELEMENTS:
            harness.push(element)
        yield harness


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_all_state_with_another_parallelism(two, parallelism):
    before = content(two)
    assert is_all(before), before
    with two.restart(parallelism=parallelism) as other:
        assert content(other) == before
        assert checksum(content(other)) == checksum(before)


def test_and_it_goes_on_as_if_nothing_had_happened():
    results = []
    for path in ((2,), (2, 1), (2, 3), (2, 1, 3, 2)):
        harness = StreamHarness(all_state, parallelism=path[0])
        harness.open()
        found = []
        for number, parallelism in enumerate(path):
            if number:
                found += harness.values()
                harness = harness.restart(parallelism=parallelism)
            share = len(ELEMENTS) // len(path)
            for element in ELEMENTS[number * share : (number + 1) * share]:
                harness.push(element)
        harness.end_input()
        results.append(sorted(found + harness.values()))
        harness.close()
    assert all(result == results[0] for result in results)
