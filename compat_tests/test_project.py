"""project: some fields of a tuple-typed stream."""

from __future__ import annotations

import pytest
from pyflink.common import Types

from compat_tests.running import collect

PERSON = Types.TUPLE([Types.STRING(), Types.INT(), Types.DOUBLE()])


def test_fields_in_the_order_asked_for(env):
    stream = env.from_collection([("a", 1, 0.5), ("b", 2, 1.5)], PERSON).project(2, 0)
    assert stream.get_type() == Types.TUPLE([Types.DOUBLE(), Types.STRING()])
    assert collect(stream) == [(0.5, "a"), (1.5, "b")]


def test_one_field_stays_a_tuple(env):
    stream = env.from_collection([("a", 1, 0.5)], PERSON).project(1).map(lambda t: t)
    assert collect(stream) == [(1,)]


@pytest.mark.parametrize(
    "of_another_type",
    [
        lambda env: env.from_collection([("a", 1)]),
        lambda env: env.from_collection([1], Types.INT()),
        lambda env: env.from_collection([("a", 1)], Types.ROW([Types.STRING(), Types.INT()])),
    ],
)
def test_only_tuples(env, of_another_type):
    with pytest.raises(Exception, match="Only Tuple DataStreams can be projected"):
        of_another_type(env).project(0)


@pytest.mark.parametrize("fields", [(), (3,), (-1,), ("a",), (1.0,), (True,), ([0],)], ids=repr)
def test_fields_that_are_not_there(env, fields):
    with pytest.raises(Exception, match=r"\S"):
        env.from_collection([("a", 1, 0.5)], PERSON).project(*fields)
