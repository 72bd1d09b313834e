"""Reads one split after the other, and can resume in the middle."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyflink_on_spark._runtime.contract.connector import SinkWriter, Source, SplitReader
from pyflink_on_spark._runtime.elements.bundle import Bundle


class Letters(Source):
    """A split is a text; its letters come in bundles of three, with their places as timestamps."""

    def splits(self, parallelism):
        return []

    def read(self, split, context):
        for at in range(0, len(split), 3):
            part = split[at : at + 3]
            yield Bundle(list(part), list(range(at, at + len(part))))


class Waits(Letters):
    """Has nothing at first; its positions are texts."""

    def __init__(self):
        self.closed = []

    def resume(self, split, position, context):
        try:
            yield None, "waiting"
            yield Bundle([split, position]), "read"
        finally:
            self.closed.append(split)


def context(index=0, parallelism=1):
    return SimpleNamespace(task=SimpleNamespace(subtask_index=index, parallelism=parallelism))


def rest(reader):
    found = []
    while not reader.ended:
        bundle = reader.poll()
        if bundle is not None:
            assert bundle.timestamps is None or len(bundle.values) == len(bundle.timestamps)
            found += zip(bundle.values, bundle.timestamps or bundle.values, strict=True)
    return found


def placed(*texts):
    return [(letter, at) for text in texts for at, letter in enumerate(text)]


def test_one_after_the_other():
    assert rest(SplitReader(Letters(), ["abcd", "", "xyz"], None, context())) == placed(
        "abcd", "xyz"
    )


def test_without_splits_it_has_ended():
    assert SplitReader(Letters(), [], None, context()).ended


@given(st.lists(st.text("abc", max_size=8), max_size=4), st.integers(0, 8), st.integers(1, 3))
def test_goes_on_anywhere_with_any_parallelism(splits, polls, parallelism):
    first = SplitReader(Letters(), splits, None, context())
    found = []
    for _ in range(polls):
        bundle = first.poll()
        if bundle is not None:
            found += zip(bundle.values, bundle.timestamps, strict=True)
    saved = pickle.loads(pickle.dumps(first.snapshot()))
    first.close()
    for index in range(parallelism):
        found += rest(SplitReader(Letters(), splits, saved, context(index, parallelism)))
    assert sorted(found) == sorted(placed(*splits))


def test_a_source_that_has_nothing_right_now():
    source = Waits()
    reader = SplitReader(source, ["a"], None, context())
    assert reader.poll() is None
    assert not reader.ended
    assert reader.poll() == Bundle(["a", None])
    reader.close()
    assert source.closed == ["a"]


def test_a_position_can_be_anything():
    first = SplitReader(Waits(), ["a"], None, context())
    first.poll()
    second = SplitReader(Waits(), ["a"], first.snapshot(), context())
    assert second.poll() is None
    assert second.poll() == Bundle(["a", "waiting"])


def test_all_splits_ended():
    reader = SplitReader(Letters(), ["a"], None, context())
    rest(reader)
    assert reader.snapshot() == []
    assert reader.poll() is None
    reader.close()


def test_a_writer_that_cannot_go_on_says_so():
    class Writer(SinkWriter):
        def write(self, elements):
            pass

    Writer().restore([])
    with pytest.raises(ValueError, match="Writer cannot take over"):
        Writer().restore([1])


def test_a_source_must_say_how_it_is_read():
    class Mute(Source):
        def splits(self, parallelism):
            return []

    with pytest.raises(NotImplementedError):
        Mute().read(None, context())
