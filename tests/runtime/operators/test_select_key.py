"""The key of each element."""

from __future__ import annotations

import pytest

from pyflink_on_spark._runtime.elements.immutability import wrap_key
from pyflink_on_spark._runtime.operators import stateless as select_key
from pyflink_on_spark._runtime.operators.stateless import DropKeyOperator, SelectKeyOperator
from pyflink_on_spark._runtime.user_code import PlainFunction, UserFunction
from pyflink_on_spark.common import Types
from tests.runtime.harness import Harness


def selecting(key_type=None):
    function = UserFunction.of(PlainFunction("get_key", lambda value: value[0]))
    return Harness(SelectKeyOperator(function, key_type))


def test_pairs():
    assert selecting().feed(("a", 1), (1.5, 2)) == [("a", ("a", 1)), (wrap_key(1.5), (1.5, 2))]


def test_a_declared_type_converts_the_key_and_not_the_element():
    found = selecting(Types.LONG()).feed([2.9], [True], [7], [7], [None])
    assert found == [(2, [2.9]), (1, [True]), (7, [7]), (7, [7]), (None, [None])]
    assert [type(key) for key, _ in found] == [int, int, int, int, type(None)]


@pytest.mark.parametrize("kept", [1, 100])
def test_a_converted_key_is_the_same_each_time(monkeypatch, kept):
    monkeypatch.setattr(select_key, "KEYS_KEPT", kept)
    keys = [1, True, 1, 2, 1.0, 2, 1]
    found = selecting(Types.DOUBLE()).feed(*[[key] for key in keys])
    assert [key for key, _ in found] == [wrap_key(float(key)) for key in keys]


def test_the_key_is_dropped_again():
    assert Harness(DropKeyOperator()).feed(("k", 1), ("k", 2)) == [1, 2]
