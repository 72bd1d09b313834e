"""Which key group a key belongs to."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from datetime import date, datetime, time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyflink_on_spark._runtime import java_hashes as polynomial
from pyflink_on_spark._runtime import key_groups
from pyflink_on_spark._runtime.elements.immutability import wrap_key
from pyflink_on_spark._runtime.java_hashes import java_hash
from pyflink_on_spark._runtime.key_groups import (
    KeyGroups,
    default_max_parallelism,
    key_groups_of,
    subtask_of_key_group,
)
from pyflink_on_spark.common.typeinfo import LocalTimeTypeInfo, Types
from pyflink_on_spark.common.types import Row

atoms = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.binary(max_size=300)
    | st.text(st.characters(), max_size=300)
)
values = st.recursive(
    atoms,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.builds(Row, inner, inner)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
short, integer = st.text(max_size=5), st.integers(-(2**31), 2**31 - 1)
DECLARED = [
    (Types.STRING(), st.none() | st.text(st.characters(exclude_categories=["Cs"]))),
    (Types.INT(), st.none() | integer),
    (Types.LONG(), st.integers(-(2**63), 2**63 - 1)),
    (Types.BIG_INT(), st.integers()),
    (Types.DOUBLE(), st.floats()),
    (Types.BOOLEAN(), st.booleans()),
    (Types.SQL_DATE(), st.dates()),
    (Types.TUPLE([Types.STRING(), Types.INT()]), st.tuples(short, integer)),
    (
        Types.ROW([Types.STRING(), Types.TUPLE([Types.INT()]), Types.LIST(Types.INT())]),
        st.builds(
            Row, st.none() | short, st.none() | st.tuples(integer), st.none() | st.lists(integer)
        ),
    ),
    (Types.MAP(Types.STRING(), Types.INT()), st.dictionaries(short, integer)),
]


@pytest.fixture(autouse=True)
def _arrays_for_few_keys(monkeypatch):
    monkeypatch.setattr(key_groups, "WORTH_AN_ARRAY", 1)
    monkeypatch.setattr(key_groups, "WORTH_AN_IMPORT", 1)
    monkeypatch.setattr(key_groups, "AT_ONCE", 3)
    KeyGroups(1).of_all([1])  # imports numpy, which takes longer than an example may


def keys_of(found):
    return list(map(wrap_key, found))


@pytest.mark.slow
@given(st.lists(values, max_size=8), st.integers(1, 32768))
def test_many_untyped_keys_at_once(found, count):
    groups = KeyGroups(count)
    assert groups.of_all(keys_of(found)) == [groups.of(wrap_key(value)) for value in found]


@pytest.mark.parametrize(("key_type", "of_type"), DECLARED, ids=str)
def test_many_declared_keys_at_once(key_type, of_type):
    groups = KeyGroups(32768, key_type)

    @given(st.lists(of_type, max_size=8))
    def check(found):
        assert groups.of_all(keys_of(found)) == [groups.of(wrap_key(value)) for value in found]

    check()


@pytest.mark.parametrize("bits", [8, 16, 31, 32, 39, 40, 47, 48, 55, 56, 63, 64, 80])
def test_ints_of_all_sizes(bits):
    found = [sign * (2**bits + near) for near in (-2, -1, 0, 1) for sign in (1, -1)]
    groups = KeyGroups(32768)
    for value in found:
        assert groups.of_all([value]) == [groups.of(value)]
    assert groups.of_all(found) == list(map(groups.of, found))


@pytest.mark.parametrize("size", [63, 64, 65, 255, 256, 257, 1000, 65536, 70_000])
@pytest.mark.parametrize("text", ["a", "é", "😀"])
@pytest.mark.parametrize("key_type", [None, Types.STRING()], ids=str)
def test_texts_of_all_sizes(monkeypatch, size, text, key_type):
    groups = KeyGroups(32768, key_type)
    found = [text * size, text * size + "b"]
    assert groups.of_all(found) == list(map(groups.of, found))
    monkeypatch.setattr(polynomial, "MOST_AT_ONCE", 1)
    assert groups.of_all(found) == list(map(groups.of, found))


@given(values)
def test_equal_keys_have_one_key_group(value):
    groups = KeyGroups(32768)
    expected = groups.of(wrap_key(value))
    for other in (copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert groups.of(wrap_key(other)) == expected
        assert groups.of_all([wrap_key(other)]) == [expected]


def test_it_does_not_matter_which_parts_are_one_object():
    groups, word = KeyGroups(32768), b"word".decode()
    for shared, apart in [
        ((word, word), (word, b"word".decode())),
        (Row(word, [word]), Row(word, [b"word".decode()])),
        ({"a": (word, word)}, {"a": (word, b"word".decode())}),
    ]:
        assert wrap_key(shared) == wrap_key(apart)
        assert groups.of(wrap_key(shared)) == groups.of(wrap_key(apart))


def test_a_key_that_contains_itself():
    ring, other = {"a": 1}, {"a": 1}
    ring["self"], other["self"] = ring, other
    assert KeyGroups(32768).of(wrap_key(ring)) == KeyGroups(32768).of(wrap_key(other))


STABLE = [
    "a", "\ud800", 7, b"x", None, ("a", 1.5), [True], frozenset("abc"), ("x", frozenset("abc")),
    Row(1, "a"),
]  # fmt: skip


def test_key_groups_are_the_same_in_every_process():
    code = (
        "import pickle, sys;"
        "from pyflink_on_spark._runtime.key_groups import KeyGroups;"
        "from pyflink_on_spark._runtime.elements.immutability import wrap_key;"
        "keys = map(wrap_key, pickle.loads(bytes.fromhex(sys.argv[1])));"
        "print([KeyGroups(32768).of(key) for key in keys], 'numpy' in sys.modules)"
    )
    command = [sys.executable, "-c", code, pickle.dumps(STABLE).hex()]
    other = subprocess.run(command, env={}, capture_output=True, text=True, check=True)
    expected = [KeyGroups(32768).of(wrap_key(key)) for key in STABLE]
    assert other.stdout.strip() == f"{expected} False"


@pytest.mark.parametrize(
    ("key_type", "value", "hash_code"),
    [
        (LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_DATE), date(2024, 2, 29), 4145309),
        (LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_TIME), time(1, 2, 3, 456), -736190430),
        (
            LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME),
            datetime(2024, 2, 29, 1, 2, 3, 456),
            -735977281,
        ),
    ],
)
def test_types_of_the_table_api(key_type, value, hash_code):
    assert java_hash(key_type).plain(value) & 0xFFFFFFFF == hash_code & 0xFFFFFFFF


@given(st.integers(1, 300), st.data())
def test_every_key_group_belongs_to_one_subtask(max_parallelism, data):
    parallelism = data.draw(st.integers(1, max_parallelism))
    owners = {
        group: index
        for index in range(parallelism)
        for group in key_groups_of(index, parallelism, max_parallelism)
    }
    assert sorted(owners) == list(range(max_parallelism))
    for group, index in owners.items():
        assert subtask_of_key_group(group, max_parallelism, parallelism) == index


@pytest.mark.parametrize(
    ("parallelism", "expected"),
    [(1, 128), (2, 128), (85, 128), (86, 256), (170, 256), (171, 256), (172, 512), (1000, 2048),
     (21845, 32768), (32768, 32768)],
)  # fmt: skip
def test_default_max_parallelism(parallelism, expected):
    assert default_max_parallelism(parallelism) == expected
