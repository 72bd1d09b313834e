"""The state of keyed aggregations has the stream's type, whatever operators follow."""

from __future__ import annotations

import pytest
from pyflink.common import Configuration, Row, Types

from compat_tests.running import collect

LARGEST = 2**31 - 1
PAIR = Types.TUPLE([Types.STRING(), Types.INT()])
ROW = Types.ROW_NAMED(["k", "n"], [Types.STRING(), Types.INT()])


@pytest.fixture
def written_env(env):
    """An environment in which PyFlink writes its state after each element."""
    return configured(env, {"python.fn-execution.bundle.size": "1"})


@pytest.fixture
def cacheless_env(written_env):
    """An environment in which PyFlink also reads its state for each element."""
    return configured(written_env, {"python.state.cache-size": "0"})


def configured(env, options):
    configuration = Configuration()
    for key, value in options.items():
        configuration.set_string(key, value)
    env.configure(configuration)
    return env


def keyed(env, elements, type_info):
    return env.from_collection(elements, type_info).key_by(lambda _: 0)


def seen(stream):
    """Return the elements that a Python function receives, without effects of declared types."""
    return collect(stream.map(repr, Types.STRING()))


@pytest.mark.parametrize(
    ("elements", "type_info", "aggregate"),
    [
        ([LARGEST, 1], Types.INT(), lambda s: s.sum()),
        ([2**63 - 1, 1], Types.LONG(), lambda s: s.sum()),
        ([("a", LARGEST), ("a", 1)], PAIR, lambda s: s.sum(1)),
        ([("a", LARGEST), ("a", 1)], PAIR, lambda s: s.sum(-1)),
        ([Row("a", LARGEST), Row("a", 1)], ROW, lambda s: s.sum("n")),
        ([LARGEST, 1], Types.INT(), lambda s: s.reduce(lambda a, b: a + b)),
        ([LARGEST, 1], Types.INT(), lambda s: s.count_window(2).reduce(lambda a, b: a + b)),
    ],
    ids=["int", "long", "tuple", "last field", "row", "reduce", "window"],
)
def test_a_result_that_is_too_large(written_env, elements, type_info, aggregate):
    with pytest.raises(Exception, match="OverflowError"):
        seen(aggregate(keyed(written_env, elements, type_info)))


@pytest.mark.parametrize(
    ("elements", "type_info", "result", "error"),
    [
        ([1, 2], Types.INT(), "x", "an integer is required"),
        ([1, 2], Types.INT(), None, "an integer is required|NullValueError"),
        (["a", "b"], Types.STRING(), None, "AttributeError|NullValueError"),
        ([("a", 1), ("a", 2)], PAIR, ["a", 3], "TypeError"),
        ([Row("a", 1), Row("a", 2)], ROW, ("a", 3), "AttributeError"),
    ],
    ids=["str for int", "none for int", "none for str", "list for tuple", "tuple for row"],
)
def test_a_reduction_of_another_type(written_env, elements, type_info, result, error):
    with pytest.raises(Exception, match=error):
        seen(keyed(written_env, elements, type_info).reduce(lambda a, b: result))


def test_a_first_element_that_state_cannot_keep(written_env):
    stream = written_env.from_collection(["a"]).map(lambda _: None, Types.STRING())
    with pytest.raises(Exception, match=r"AttributeError|NullValueError"):
        seen(stream.key_by(lambda _: 0).reduce(lambda a, b: b))


def test_results_stay_as_they_are_while_they_are_in_the_cache(env):
    numbers = [0.1] * 4
    rounded = 0.10000000149011612
    assert seen(keyed(env, numbers, Types.FLOAT()).sum()) == [
        repr(rounded * times) for times in (1, 2, 3, 4)
    ]
    assert seen(keyed(env, [1, 2, 3], Types.INT()).reduce(lambda a, b: a + b + 0.5)) == [
        *("1", "3.5", "7.0")
    ]


@pytest.mark.parametrize(
    ("elements", "type_info", "aggregate", "expected"),
    [
        ([0.1] * 3, Types.FLOAT(), lambda s: s.sum(), "0.30000001192092896"),
        ([1, 2, 3], Types.INT(), lambda s: s.reduce(lambda a, b: a + b + 0.5), "6"),
        ([1, 2], Types.INT(), lambda s: s.reduce(lambda a, b: True), "1"),
        (
            [("a", 1), ("a", 2)],
            PAIR,
            lambda s: s.reduce(lambda a, b: (a[0], a[1] + b[1], "more")),
            "('a', 3)",
        ),
        (
            [Row("a", 1), Row("a", 2)],
            ROW,
            lambda s: s.reduce(lambda a, b: Row(n=a.n + b.n, k="x")),
            "Row(k='x', n=3)",
        ),
    ],
    ids=["float", "fraction", "bool", "field too many", "fields in another order"],
)
def test_without_a_cache_results_have_the_stream_s_type(
    cacheless_env, elements, type_info, aggregate, expected
):
    assert seen(aggregate(keyed(cacheless_env, elements, type_info)))[-1] == expected


@pytest.mark.pyflink_bug("its state keeps None as the first of several values")
def test_after_a_reduction_of_none_the_next_element_is_the_first(env):
    def add_up_to_three(a, b):
        return None if a + b > 3 else a + b

    assert collect(keyed(env, [1, 2, 3, 1, 1], None).reduce(add_up_to_three)) == [1, 3, None, 1, 2]
