"""Certainties: what a loop does not test of an expression holds for each of its values."""

from __future__ import annotations

import random

import pytest

from pyflink_on_spark._runtime.operators.function_loop import loop_texts
from pyflink_on_spark._runtime.operators.stateless import ConvertOperator, MapOperator
from pyflink_on_spark._runtime.types.fitting import (
    Certainty,
    certainty_of,
    declared_certainty,
    unchanged_test,
)
from pyflink_on_spark._runtime.user_code import PlainFunction, UserFunction
from pyflink_on_spark.common import Types
from tests.runtime.harness import Harness

LONGEST = 2**63 - 1
NUMBERS = Certainty(int, -9, 12)
FACTS = {"a": NUMBERS, "b": Certainty(int, -4, 4), "x": Certainty(float), "t": Certainty(str)}
LEAVES = ["a", "b", "3", "-7", "0", "x", "1.5", "t", "'ab'", "f'{a}-{t}'", "f'{t}'", "True"]
SIGNS = ["+", "-", "*", "//", "%", "&", "|", "^", ">>", "<", "==", "is", "in", "/"]
FORMS = ["({0} {2} {1})", "({0} {2} {1})", "-{0}", "~{0}", "(not {0})", "abs({0})", "str({0})",
         "min({0}, {1})", "max({0}, {1}, 2)", "len({0})"]  # fmt: skip


def grown(chance, depth):
    if not depth:
        return chance.choice(LEAVES)
    parts = grown(chance, depth - 1), grown(chance, chance.randrange(depth))
    return chance.choice(FORMS).format(*parts, chance.choice(SIGNS))


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("seed", range(40))
def test_values_of_random_expressions_are_as_is_known(seed):
    chance = random.Random(seed)
    held = 0
    for _ in range(60):
        expression = grown(chance, chance.randint(1, 3))
        known = certainty_of(expression, FACTS)
        for _ in range(25 if known else 0):
            values = {
                "a": chance.randint(-9, 12),
                "b": chance.randint(-4, 4),
                "x": chance.uniform(-9, 9),
                "t": chance.choice(["", "q"]),
            }
            try:
                found = eval(expression, values)
            except (TypeError, ValueError, ZeroDivisionError, AttributeError):
                continue
            assert type(found) is known.kind, (expression, values)
            if known.kind is int:
                assert known.low <= found <= known.high, (expression, values)
            held += 1
    assert held


@pytest.mark.parametrize("expression", ["n", "n + 1", "f'{n}'", "str(n)", "n % 5", "n < 1", "-n"])
def test_nothing_is_known_where_a_class_of_a_user_may_be(expression):
    assert certainty_of(expression, {}) is None


def test_numbers_that_grow_without_end_are_not_followed():
    assert certainty_of("a " + "* 99999999999999999999" * 5, FACTS) is None


@pytest.mark.parametrize(
    ("low", "high", "test"),
    [
        (-5, 5, "True"),
        (-(2**63), LONGEST, "True"),
        (0, LONGEST + 1, f"value <= {LONGEST}"),
        (-(2**64), 0, f"value >= {-(2**63)}"),
    ],
)
def test_only_what_may_be_exceeded_is_tested(low, high, test):
    facts = {"value": Certainty(int, low, high)}
    assert unchanged_test(Types.LONG(), "value", facts=facts) == test


def test_another_kind_of_value_is_tested():
    assert "type(value) is float" in unchanged_test(
        Types.DOUBLE(), "value", facts={"value": NUMBERS}
    )


@pytest.mark.parametrize("kind", [Types.STRING(), Types.BIG_INT(), Types.SQL_DATE(), None])
def test_what_may_be_none_is_not_known(kind):
    assert declared_certainty(kind) is None


def test_elements_of_a_declared_type_are_not_tested_again():
    def text(received):
        add = MapOperator(UserFunction.of(PlainFunction("map", lambda value: (value, value % 9))))
        add.received_type = received
        convert = ConvertOperator(Types.TUPLE([Types.LONG(), Types.INT()]))
        return "".join(loop_texts([Harness(each).operator for each in (add, convert)], False))

    assert "type(" not in text(Types.LONG())
    assert "type(" in text(None)
