"""How outcomes are written and compared."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from pyflink_on_spark.common import Row, RowKind
from tests.random_programs.outcome import (
    ENGINE,
    HANGS,
    USER,
    Failure,
    Outcome,
    Reading,
    canonical,
    difference,
    failure,
    first_field,
    from_data,
    root_cause,
)
from tests.random_programs.program import ANY, BY_FIRST, TOTAL, Output

FLINK_ERROR = """An error occurred while calling o1.hasNext.
: java.lang.RuntimeException: Failed to fetch next result
Caused by: java.lang.RuntimeException: Error in a worker: Traceback (most recent call last):
  File "/site-packages/pyflink/datastream/data_stream.py", line 311, in process_element
    yield self._map_func(value)
          ^^^^^^^^^^^^^^^^^^^^^
  File "{file}", line 3, in f
ValueError: two
lines

\tat org.apache.beam.runners.Xyz.run(Xyz.java:3)
Caused by: java.lang.Exception: x
"""
OUR_ERROR = """Traceback (most recent call last):
  File "{file}", line 3, in f
ValueError: two
lines
in operator 'Map', added at script.py:14 (task Map (1/1))
"""


def changed_row():
    row = Row(a=1, b="x")
    row.set_row_kind(RowKind.DELETE)
    return row


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((1, True, 1.0), "(1, True, 1.0,)"),
        ([(), b"a"], "[(,), b'a']"),
        ({"b": 1, "a": {2}}, "{'a': set{2}, 'b': 1}"),
        (Row(1, "x"), "Row(1, 'x')"),
        (changed_row(), "-DRow(a=1, b='x')"),
        (datetime.date(2024, 2, 29), "date(2024, 2, 29)"),
        (Decimal("1.50"), "Decimal:Decimal('1.50')"),
    ],
)
def test_values_show_their_types(value, text):
    assert canonical(value) == text


@pytest.mark.parametrize("text", [FLINK_ERROR, OUR_ERROR])
def test_an_error_of_the_program(text):
    found = failure(text.format(file="<program>"))
    assert found == Failure(USER, "ValueError: two\nlines")


def test_an_error_of_the_engine():
    assert failure(FLINK_ERROR.format(file="/x.py")).by == ENGINE
    assert failure("java.lang.NullPointerException\n\tat x") == Failure(
        ENGINE, "java.lang.NullPointerException"
    )


def test_the_last_error_of_a_chain_counts():
    text = OUR_ERROR.format(file="<program>").replace("in operator", "\nDuring handling\n\nin")
    text = text.replace("in 'Map'", OUR_ERROR.format(file="x").replace("ValueError", "KeyError"))
    assert failure(text) == Failure(ENGINE, "KeyError: two\nlines")


def results(*elements, order=TOTAL):
    return [Output("s1", order=order)], Outcome((("a, 1", "b, 2", "a, 3"),)), Outcome((elements,))


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("((1, 2), 3)", "((1, 2)"),
        ("(a,[b, c])", "(a"),
        ("5", "5"),
        ("[(1, {2, 3}), 4]", "[(1, {2, 3})"),
    ],
)
def test_the_first_field_of_an_element(text, first):
    assert first_field(text) == first


def test_the_cause_of_a_java_error():
    text = "An error occurred.\n: java.lang.A: a\n\tat x\nCaused by: java.lang.B: b\n\tat y"
    assert root_cause(text) == "java.lang.B: b"
    assert root_cause("An error occurred.\n: java.lang.A: a\n\tat x") == "java.lang.A: a"
    assert root_cause("") == ""


@pytest.mark.parametrize("order", [TOTAL, BY_FIRST, ANY])
def test_equal_results(order):
    assert difference(*results("a, 1", "b, 2", "a, 3", order=order)) is None


def test_the_order_counts_as_far_as_it_is_fixed():
    swapped_keys, swapped_values = ("b, 2", "a, 1", "a, 3"), ("a, 3", "b, 2", "a, 1")
    assert "order" in difference(*results(*swapped_keys))
    assert difference(*results(*swapped_keys, order=BY_FIRST)) is None
    assert "order" in difference(*results(*swapped_values, order=BY_FIRST))
    assert difference(*results(*swapped_values, order=ANY)) is None
    assert difference(*results(*swapped_values), Reading(any_order=True)) is None


def test_how_often_an_element_comes_counts():
    found = difference(*results("a, 1", "b, 2", "b, 2", order=ANY))
    assert found == "s1: misses ['a, 3'], has ['b, 2']"


def test_the_subtask_of_a_printed_line():
    outputs, one, other = [Output("s1")], Outcome((("1> x",),)), Outcome((("2> x",),))
    assert difference(outputs, one, other) is not None
    assert difference(outputs, one, other, Reading(any_subtask=True)) is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (Failure(USER, "E: x"), Failure(USER, "E: x"), True),
        (Failure(USER, "E: x"), Failure(USER, "E: y"), False),
        (Failure(USER, "E: x"), Failure(ENGINE, "E: x"), True),
        (Failure(USER, "E: x"), Failure(ENGINE, "E: y"), False),
        (Failure(ENGINE, "a"), Failure(ENGINE, "b"), True),
        (Failure(ENGINE, "a"), None, False),
        (None, Failure(ENGINE, "a"), False),
        (Failure(HANGS), Failure(ENGINE, "b"), False),
    ],
)
def test_failures(one, other, same):
    assert (difference([], Outcome(failure=one), Outcome(failure=other)) is None) == same


@pytest.mark.parametrize("outcome", [Outcome((("a",), ())), Outcome(failure=Failure(USER, "E: x"))])
def test_outcomes_survive_json(outcome):
    assert from_data(outcome.to_data()) == outcome
