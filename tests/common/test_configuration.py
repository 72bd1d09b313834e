"""The configuration: what is set is what is read, as Flink reads it."""

from __future__ import annotations

import copy
import math
import pickle

import pytest
from ruamel.yaml.error import YAMLError

from pyflink_on_spark.common import Configuration


def of(value: str) -> Configuration:
    return Configuration().set_string("k", value)


def test_what_was_set_is_returned_and_setters_return_the_configuration():
    configuration = Configuration()
    assert configuration.set_string("s", "x") is configuration
    assert configuration.set_integer("i", 2**40) is configuration
    assert configuration.set_boolean("b", True) is configuration
    assert configuration.set_float("f", 2) is configuration
    assert configuration.set_bytearray("y", bytearray(b"ab\xff")) is configuration
    assert configuration.get_string("s", "") == "x"
    assert configuration.get_integer("i", 0) == 2**40
    assert configuration.get_boolean("b", False) is True
    assert configuration.get_float("f", 0) == 2.0
    assert configuration.get_bytearray("y", bytearray()) == bytearray(b"ab\xff")
    assert configuration.key_set() == {"s", "i", "b", "f", "y"}


def test_defaults_are_returned_for_missing_keys():
    configuration = Configuration()
    assert configuration.get_string("k", "d") == "d"
    assert configuration.get_integer("k", None) is None
    assert configuration.get_float("k", "1.5") == 1.5
    assert configuration.get_bytearray("k", bytearray(b"d")) == bytearray(b"d")
    with pytest.raises(TypeError):
        configuration.get_float("k", None)


@pytest.mark.parametrize(
    ("text", "number"), [("12", 12), ("-3", -3), ("+5", 5), ("007", 7), (str(2**63 - 1), 2**63 - 1)]
)
def test_texts_that_are_whole_numbers(text, number):
    assert of(text).get_integer("k", 0) == number


@pytest.mark.parametrize(
    "text", ["", " 7 ", "1.5", "1e3", "0x10", "1_0", "5L", "-", str(2**63), "x"]
)
def test_texts_that_are_no_whole_numbers(text):
    with pytest.raises(ValueError, match=r"Could not parse value '.*' for key 'k'"):
        of(text).get_integer("k", 0)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (" 7 ", 7.0),
        ("1e3", 1000.0),
        ("1.5F", 1.5),
        (".5", 0.5),
        ("5.", 5.0),
        ("0x1p3", 8.0),
        ("Infinity", math.inf),
        ("-Infinity", -math.inf),
        ("1e400", math.inf),
    ],
)
def test_texts_that_are_numbers(text, number):
    assert of(text).get_float("k", 0) == number


@pytest.mark.parametrize("text", ["", "inf", "nan", "1_0", "1e", "true", "\u0661"])
def test_texts_that_are_no_numbers(text):
    with pytest.raises(ValueError, match="Could not parse value"):
        of(text).get_float("k", 0)


def test_not_a_number():
    assert math.isnan(of("NaN").get_float("k", 0))


def test_only_true_and_false_are_truth_values():
    assert of("TRUE").get_boolean("k", False) is True
    assert of("false").get_boolean("k", True) is False
    for text in ("yes", "1", "", " true "):
        with pytest.raises(ValueError, match="Could not parse value"):
            of(text).get_boolean("k", False)


def test_a_value_keeps_its_type_and_is_read_through_its_text():
    configuration = Configuration().set_integer("k", 5.7).set_boolean("b", 1)
    assert configuration.to_dict() == {"k": "5.7", "b": "1"}
    with pytest.raises(ValueError, match=r"5\.7"):
        configuration.get_integer("k", 0)
    assert configuration.get_float("k", 0) == 5.7
    assert configuration.get_integer("b", 0) == 1


def test_setters_refuse_what_flink_refuses():
    configuration = Configuration()
    for refused in (
        lambda: configuration.set_string("k", 5),
        lambda: configuration.set_string("k", None),
        lambda: configuration.set_string(None, "v"),
        lambda: configuration.set_integer("k", None),
        lambda: configuration.set_bytearray("k", "ab"),
        lambda: Configuration.from_dict({"k": 1}),
        lambda: configuration.add_all({"k": "v"}),
    ):
        with pytest.raises(TypeError):
            refused()
    with pytest.raises(OverflowError):
        configuration.set_integer("k", 2**70)
    with pytest.raises(ValueError, match="zz"):
        configuration.set_float("k", "zz")
    assert configuration.to_dict() == {}


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.5, "1.5"),
        (2, "2.0"),
        (10000000000.0, "1.0E10"),
        (0.0001, "1.0E-4"),
        (12345678.9, "1.23456789E7"),
        (-1.25e-07, "-1.25E-7"),
        (math.nan, ".nan"),
        (math.inf, ".inf"),
        (-math.inf, "-.inf"),
        (-0.0, "-0.0"),
        (5e-324, "4.9E-324"),
        (2e23, "2.0E23"),
        (0.001, "0.001"),
        (9999999.0, "9999999.0"),
    ],
)
def test_numbers_are_written_as_java_writes_them(number, text):
    assert Configuration().set_float("k", number).to_dict() == {"k": text}


def test_bytes_are_written_in_base_64():
    configuration = Configuration().set_bytearray("k", b"ab\xff").set_bytearray("e", b"")
    assert configuration.to_dict() == {"k": "!!binary |-\n  YWL/", "e": '!!binary ""'}
    with pytest.raises(ValueError, match="Could not parse"):
        of("12").get_bytearray("k", bytearray())


def test_copies_are_independent_and_views_are_not():
    original = of("v")
    for other in (Configuration(original), copy.deepcopy(original)):
        assert other == original
        other.set_string("k", "w")
        assert original.get_string("k", "") == "v"
    Configuration(j_configuration=original).set_string("k", "w")
    assert original.get_string("k", "") == "w"


def test_equality_looks_at_the_types():
    assert of("v") == of("v")
    assert hash(of("v")) == hash(of("v"))
    assert of("1") != Configuration().set_integer("k", 1)
    assert Configuration().set_boolean("k", True) != Configuration().set_integer("k", 1)
    assert of("v") != {"k": "v"}


def test_add_all_with_and_without_a_prefix():
    configuration = of("v").add_all(Configuration.from_dict({"k": "w", "l": "x"}))
    configuration.add_all(Configuration.from_dict({"m": "y"}), "pre.")
    assert configuration.to_dict() == {"k": "w", "l": "x", "pre.m": "y"}


def test_remove_takes_what_is_below_the_key_as_well():
    configuration = Configuration.from_dict({"a.b": "v", "ab": "w"})
    assert not configuration.contains_key("a")
    assert configuration.remove_config("a") is True
    assert configuration.remove_config("a") is False
    assert configuration.to_dict() == {"ab": "w"}


def test_a_dict_gets_the_values_with_their_types():
    target = {"z": 0}
    Configuration().set_integer("i", 5).set_boolean("b", True).add_all_to_dict(target)
    assert target == {"z": 0, "i": 5, "b": True}


def test_secrets_are_not_shown():
    configuration = Configuration.from_dict({"a": "b", "My.Secret.key": "y", "passwd": "p"})
    assert str(configuration) == "{a=b, My.Secret.key=******, passwd=p}"
    assert configuration.to_dict()["My.Secret.key"] == "y"


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        (None, []),
        ("", []),
        ("a;b", ["a", "b"]),
        ("a ; b", ["a ", " b"]),
        ("a,b", ["a,b"]),
        ("a: b", ["a: b"]),
        ("[a, b]", ["a", "b"]),
        (" [a]", ["a"]),
        ("[]", []),
        ("- a\n- b", ["a", "b"]),
        ("['x', \"y\"]", ["x", "y"]),
        ('["a;b"]', ["a;b"]),
        ("[a: 1]", [{"a": 1}]),
        ("[a,[b,c]]", ["a", ["b", "c"]]),
        ("[true, null, 1.5, 0x10, 010, yes]", [True, None, 1.5, 16, 10, "yes"]),
        ("[file:///a.jar, file:///b.jar]", ["file:///a.jar", "file:///b.jar"]),
    ],
)
def test_lists(text, parsed):
    assert Configuration.parse_list_value(text) == parsed


@pytest.mark.parametrize("text", ["[", "[a", "['a]", "[a] b", "[a,,b]"])
def test_lists_that_are_broken(text):
    with pytest.raises(YAMLError, match=r"expected|found"):
        Configuration.parse_list_value(text)


def test_it_can_be_pickled():
    configuration = of("v").set_integer("i", 1)
    assert pickle.loads(pickle.dumps(configuration)) == configuration
