"""The sources that need no file: number sequences and collections."""

from __future__ import annotations

import pickle
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyflink_on_spark._connectors.builtin import CollectionSource, NumberSequence
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE
from pyflink_on_spark.common.typeinfo import Types


def read(source, split):
    return [value for bundle in source.read(split, None) for value in bundle.values]


@pytest.mark.parametrize(
    ("start", "end", "parallelism", "splits"),
    [
        (1, 10, 3, [range(1, 5), range(5, 8), range(8, 11)]),
        (1, 10, 1, [range(1, 11)]),
        (3, 3, 4, [range(3, 4)]),
        (-5, 4, 2, [range(-5, 0), range(5)]),
    ],
)
def test_a_sequence_is_cut_into_contiguous_ranges(start, end, parallelism, splits):
    assert NumberSequence(start, end).splits(parallelism) == splits


@given(
    start=st.integers(-(2**63), 2**63 - 20_001),
    length=st.integers(0, 20_000),
    parallelism=st.integers(1, 9),
)
def test_all_numbers_come_once(start, length, parallelism):
    source = pickle.loads(pickle.dumps(NumberSequence(start, start + length)))
    numbers = [n for split in source.splits(parallelism) for n in read(source, split)]
    assert numbers == list(range(start, start + length + 1))


def test_the_longest_sequence_is_not_made_at_once():
    source = NumberSequence(-(2**63), 2**63 - 1)
    first = next(iter(source.read(source.splits(2)[1], None)))
    assert first.values == list(range(BUNDLE_SIZE))
    assert (source.bounded, source.produced_type) == (True, Types.LONG())


@pytest.mark.parametrize(
    ("bounds", "error"),
    [
        ((5, 4), ValueError),
        ((0, 2**63), ValueError),
        (("1", 5), TypeError),
        ((1.0, 5), TypeError),
        ((True, 5), TypeError),
    ],
)
def test_bounds_that_are_none_are_refused(bounds, error):
    with pytest.raises(error):
        NumberSequence(*bounds)


def test_a_collection_is_copied_when_the_source_is_made():
    elements = [[1], [2]]
    source = CollectionSource(elements)
    elements[0].append(9)
    elements.append([3])
    source = pickle.loads(pickle.dumps(source))
    assert source.splits(4) == [None]
    assert read(source, None) == [[1], [2]]
    assert not source.parallel


def test_a_large_collection_comes_in_bundles():
    source = CollectionSource(iter(range(2 * BUNDLE_SIZE + 1)), Types.INT())
    sizes = [len(bundle.values) for bundle in source.read(None, None)]
    assert sizes == [BUNDLE_SIZE, BUNDLE_SIZE, 1]
    assert source.produced_type == Types.INT()


def test_an_empty_collection():
    assert read(CollectionSource([]), None) == []


def test_what_cannot_be_pickled_is_refused_at_once():
    with pytest.raises(TypeError):
        CollectionSource([threading.Lock()])
