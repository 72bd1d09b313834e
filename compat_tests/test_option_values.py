"""How lists and maps are written as the value of an option, and read from one."""

from __future__ import annotations

import datetime

import pytest
from pyflink.common import Configuration
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.util.java_utils import get_j_env_configuration

KEY = "pipeline.global-job-parameters"


def read_map(text):
    configuration = Configuration().set_string(KEY, text)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    return dict(env.get_config().get_global_job_parameters())


def written(parameters):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.get_config().set_global_job_parameters(parameters)
    handle = env._j_stream_execution_environment
    return Configuration(j_configuration=get_j_env_configuration(handle)).to_dict()[KEY]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a;b", ["a", "b"]),
        ("a ; b", ["a ", " b"]),
        ("a: b", ["a: b"]),
        ("[a, b]", ["a", "b"]),
        ("- a\n- [b, c]\n", ["a", ["b", "c"]]),
        ("- a\n  - b", ["a - b"]),
        ("-", [None]),
        ("- a: 1\n  b: 2", [{"a": 1, "b": 2}]),
        ("[true, yes, null, ~, nUll]", [True, "yes", None, None, "nUll"]),
        ("[010, 0o10, 0x1F, 1_000, 0b11, 1:30]", [10, 8, 31, 1000, 3, "1:30"]),
        ("[1.5, .5, 1e3, .inf]", [1.5, 0.5, 1000.0, float("inf")]),
        ("[2020-01-01]", [datetime.date(2020, 1, 1)]),
        ("['it''s', \"\\x41\"]", ["it's", "A"]),
        ("[!!str 5, &a 1, *a]", ["5", 1, 1]),
        ("[a # c\n, b]", ["a", "b"]),
        ("- |\n  x\n  y\n- z", ["x\ny\n", "z"]),
        ("{a: b}", ["{a: b}"]),
    ],
)
def test_lists(text, value):
    assert Configuration.parse_list_value(text) == value


@pytest.mark.parametrize(
    "text",
    ["[", "['a]", "[a] b", "[a,,b]", "]", "[!foo x]", "[*b]", "{a: 1, a: 2}", "[@a]", "\t[a]"],
)
def test_lists_that_are_broken(text):
    with pytest.raises(Exception, match=r"while|undefined|could not|expected"):
        Configuration.parse_list_value(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{a: b, c: d}", {"a": "b", "c": "d"}),
        ("a: b\nc: d", {"a": "b", "c": "d"}),
        ("a:b,c:d", {"a": "b", "c": "d"}),
        ("a: b, c: d", {"a": "b", "c": "d"}),
        ("a : 'b' , c : d", {"a": "b", "c": "d"}),
        ("a:'b:c'", {"a": "b:c"}),
        ("a: b:c", {"a": "b:c"}),
        (",a:b,", {"a": "b"}),
        ("a:''", {"a": ""}),
        ("key: a,b:c", {"key": "a,b:c"}),
        ("{a: 1.50, b: '1.50', c: 1e3, d: 100000000.0}",
         {"a": "1.5", "b": "1.50", "c": "1000.0", "d": "1.0E8"}),
        ("{a: 007, b: +1, c: '007', d: True, e: yes}",
         {"a": "7", "b": "1", "c": "007", "d": "true", "e": "yes"}),
        ("k: 2020-01-01", {"k": "2020-01-01"}),
        ("k: 1_000", {"k": "1_000"}),
        ("a:\n  b: c", {"a": "{b: c}"}),
        ("a: [x, 'y: z', 1.50, null]", {"a": "[x, 'y: z', 1.5, null]"}),
        ("a: null", {"a": "null"}),
        ("{a: ~}", {"{a": "~}"}),
        ("# c\na: b # d", {"a": "b"}),
        ("a: |\n  x\n  y", {"a": "x\ny"}),
        ("{a: &x b, c: *x}", {"a": "b", "c": "b"}),
        ("a: @b", {"a": "@b"}),
        ("{a: b", {"{a": "b"}),
    ],
)  # fmt: skip
def test_maps(text, value):
    assert read_map(text) == value


@pytest.mark.parametrize(
    "text", ["a", "a:", "a:b:c", "a::b", "a:b;c:d", "a:b,,c:d", "'a':'b'", "a:'b,c'", "5"]
)
def test_maps_that_are_broken(text):
    with pytest.raises(Exception, match=f"Could not parse value '{text}'"):
        read_map(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a b", "a b"),
        ("1", "'1'"),
        ("", "''"),
        ("a:b", "'a:b'"),
        ("a #b", "'a #b'"),
        ("it's", "it's"),
        ("'a'", "'''a'''"),
        ("http://x/y?z=1", "'http://x/y?z=1'"),
        ("2020-01-01", "2020-01-01"),
        ("1_000", "1_000"),
        ("yes", "yes"),
        ("True", "'True'"),
        (".NaN", "'.NaN'"),
        ("a\nb", '"a\\nb"'),
        ('a\t\x00\x07\x1b\x1f\x7f\x85\u2028"\\b', '"a\\t\\0\\a\\e\\x1f\\x7f\\N\\L\\"\\\\b"'),
        ("\xa0\u3000\ufeff\xfc\U0001f600", "\xa0\u3000\ufeff\xfc\U0001f600"),
        ("x" * 122, "x" * 122),
    ],
)
def test_texts_are_quoted_where_yaml_needs_it(value, text):
    assert written({"k": value}) == f"{{k: {text}}}"
    if "\n" not in value and value:
        assert written({value: "v"}) == f"{{{text}: v}}"


LONG = "x" * 123


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"": "v"}, "{? '' : v}"),
        ({"a\nb": "v"}, '{? "a\\nb" : v}'),
        ({"a": LONG}, f"{{a: {LONG}}}"),
        ({LONG: "v"}, f"{{? {LONG}\n  : v}}"),
        ({"x" * 73 + "\n": "v"}, '{? "' + "x" * 73 + '\\n" : v}'),
        ({"x" * 74 + "\n": "v"}, '{? "' + "x" * 74 + '\\n"\n  : v}'),
        ({"\U0001f600" * 62: "v"}, "{? " + "\U0001f600" * 62 + "\n  : v}"),
    ],
)
def test_keys_that_need_a_question_mark(value, text):
    assert written(value) == text
