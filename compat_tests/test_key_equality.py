"""Which keys are one key, with a declared key type and without."""

from __future__ import annotations

import pytest
from pyflink.common import Row, Types

from compat_tests.running import collect


def groups(env, keys, key_type=None):
    """The positions of the elements that share a key, in order."""
    found = collect(
        env.from_collection(list(enumerate(keys)))
        .map(lambda v: ([v[0]], v[1]))
        .key_by(lambda v: v[1], key_type)
        .reduce(lambda a, b: (a[0] + b[0], a[1]))
        .map(lambda v: v[0])
    )
    return sorted(group for group in found if not any(group == o[: len(group)] != o for o in found))


@pytest.mark.parametrize(
    ("keys", "key_type", "expected"),
    [
        ([1, "x", True, "y", 1.0], None, [[0], [1], [2], [3], [4]]),
        ([1, 2, True, 2, 1.9], Types.INT(), [[0, 2, 4], [1, 3]]),
        ([0.1, 1.0, 0.10000000149011612], Types.FLOAT(), [[0, 2], [1]]),
        (["a", None, "a", None], Types.STRING(), [[0, 2], [1, 3]]),
        ([None, 1, None], None, [[0, 2], [1]]),
        ([[1], [2], [1]], None, [[0, 2], [1]]),
        ([(1, 2), (2, 1), (1, 2)], None, [[0, 2], [1]]),
        ([(1, "a"), (1, "b"), (1, "a")], Types.TUPLE([Types.INT(), Types.STRING()]), [[0, 2], [1]]),
        ([Row(1, "a"), Row(2, "a"), Row(1, "a")], Types.ROW([Types.INT(), Types.STRING()]),
         [[0, 2], [1]]),
        ([b"a", b"b", b"a"], None, [[0, 2], [1]]),
        ([2**40, 1, 2**40], Types.LONG(), [[0, 2], [1]]),
    ],
    ids=str,
)  # fmt: skip
def test_keys(env, keys, key_type, expected):
    assert groups(env, keys, key_type) == expected


@pytest.mark.parametrize("parallelism", [2])
def test_equal_keys_meet_in_one_subtask(env):
    keys = [("a", i % 3) for i in range(30)]
    assert [len(group) for group in groups(env, keys)] == [10, 10, 10]


@pytest.mark.pyflink_bug("the pickles of the two tuples differ, so they are two keys")
def test_tuples_of_equal_strings_are_one_key(env):
    word = "word"
    copy = bytes(word, "ascii").decode()
    assert groups(env, [(word, word), "other", (word, copy)]) == [[0, 2], [1]]


def test_an_int_too_large_for_the_key_type(env):
    with pytest.raises(Exception, match="OverflowError"):
        groups(env, [2**40], Types.INT())


@pytest.mark.parametrize(
    "key_type",
    [
        Types.PRIMITIVE_ARRAY(Types.BYTE()),
        Types.BASIC_ARRAY(Types.STRING()),
        Types.OBJECT_ARRAY(Types.ROW([Types.INT()])),
        Types.TUPLE([Types.INT(), Types.BASIC_ARRAY(Types.INT())]),
        Types.ROW([Types.ROW([Types.PRIMITIVE_ARRAY(Types.INT())])]),
    ],
    ids=str,
)
def test_an_array_is_no_key(env, key_type):
    with pytest.raises(Exception, match="UNSUPPORTED key types"):
        env.from_collection([b"a"]).key_by(lambda v: v, key_type)


@pytest.mark.parametrize("key_type", [Types.LIST(Types.INT()), Types.MAP(Types.INT(), Types.INT())])
def test_a_list_or_a_map_may_be_a_key(env, key_type):
    env.from_collection([1]).key_by(lambda v: v, key_type)
