"""How the value of an option is read from a configuration, and written into one."""

from __future__ import annotations

import pytest

from pyflink_on_spark._options.option import (
    OptionPrefix,
    at_least,
    boolean,
    choice,
    double,
    duration,
    integer,
    long,
    memory,
    text,
    text_list,
    text_map,
)
from pyflink_on_spark.common.time import Duration

FORMER = integer("a.new", 1, former=("a.old", "a.older"))


@pytest.mark.parametrize(
    ("values", "key", "value"),
    [
        ({}, None, 1),
        ({"a.older": "4"}, "a.older", 4),
        ({"a.older": "4", "a.old": "3"}, "a.old", 3),
        ({"a.older": "4", "a.old": "3", "a.new": "2"}, "a.new", 2),
    ],
)
def test_former_keys_count_in_their_order(values, key, value):
    assert FORMER.key_in(values) == key
    assert FORMER.is_set(values) is (key is not None)
    assert FORMER.read(values) == value


def test_the_key_that_was_set_is_in_the_message():
    with pytest.raises(ValueError, match=r"Could not parse value 'x' for key 'a\.old': 'x' is not"):
        FORMER.read({"a.old": "x"})


def test_an_option_is_written_under_its_key_and_removed_under_all():
    values = {"a.old": "3", "b": "c"}
    FORMER.write(values, 5)
    assert values == {"a.old": "3", "a.new": 5, "b": "c"}
    FORMER.remove(values)
    assert values == {"b": "c"}


@pytest.mark.parametrize(
    ("option", "stored", "value"),
    [
        (boolean("k", False), "TRUE", True),
        (integer("k", None), 7, 7),
        (long("k", 0), "123456789012", 123456789012),
        (double("k", 1.5), "2.5", 2.5),
        (text("k", None), "x", "x"),
        (choice("k", ("ONE", "TWO"), "ONE"), "two", "TWO"),
        (duration("k", None), "2 s", 2000),
        (duration("k", None), Duration.of_seconds(2), 2000),
        (memory("k", 0), "20 kb", 20480),
        (text_list("k"), "a;b", ["a", "b"]),
        (text_map("k"), "a:b,c:d", {"a": "b", "c": "d"}),
    ],
    ids=lambda thing: getattr(thing, "kind", None),
)
def test_types(option, stored, value):
    assert option.read({"k": stored}) == value
    values = {}
    option.write(values, value)
    assert option.read(values) == value


@pytest.mark.parametrize(
    ("option", "stored"),
    [
        (boolean("k", False), "yes"),
        (integer("k", 0), str(2**31)),
        (choice("k", ("ONE", "TWO"), "ONE"), "three"),
        (duration("k", 0), "2 years"),
        (memory("k", 0), "2 of them"),
    ],
    ids=lambda thing: getattr(thing, "kind", None),
)
def test_values_that_an_option_cannot_have(option, stored):
    with pytest.raises(ValueError, match=f"Could not parse value '{stored}' for key 'k'"):
        option.read({"k": stored})


@pytest.mark.parametrize("option", [boolean("k", False), text("k", None)])
def test_only_values_of_the_type_are_written(option):
    with pytest.raises(TypeError, match="expected a"):
        option.write({}, 5)


def test_bounds_are_checked_on_the_way_in_and_out():
    option = integer("k", -1, check=at_least(1, "at least one, please"))
    assert option.read({}) == -1
    for refused in (lambda: option.read({"k": "0"}), lambda: option.write({}, -1)):
        with pytest.raises(ValueError, match="at least one, please"):
            refused()


def test_a_map_may_be_spread_over_keys_and_replaces_them():
    option = text_map("m")
    values = {"m.a": "1", "m.b.c": "2", "mm": "3"}
    assert option.is_set(values)
    assert option.read(values) == {"a": "1", "b.c": "2"}
    option.write(values, {"d": "4"})
    assert values == {"m": {"d": "4"}, "mm": "3"}


def test_keys_that_end_with_a_name():
    option = OptionPrefix("account.key.", "account")
    assert option.read("me", {"account.key.me": "secret"}) == "secret"
    assert option.read("you", {"account.key.me": "secret"}) is None
