"""Scripts for older releases: former names of parameters, and methods that only ever raise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pyflink_on_spark._compat.arguments import renamed
from pyflink_on_spark.common import Time, Types
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.data_stream import CachedDataStream
from pyflink_on_spark.datastream.functions import (
    AsyncFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from pyflink_on_spark.datastream.window import TumblingEventTimeWindows
from pyflink_on_spark.tools.check.script import examine
from pyflink_on_spark.tools.check.verdict import Status

NAMES = Path(__file__).resolve().parents[1] / "api" / "pyflink_names.json"
RAISING = {
    name: entry["parameters"]
    for name, entry in json.loads(NAMES.read_text())["pyflink.datastream.data_stream"].items()
    if entry.get("raises") == "Exception"
}


def stream():
    env = StreamExecutionEnvironment.get_execution_environment()
    return env.from_collection([(1, 2)], Types.TUPLE([Types.INT(), Types.INT()]))


def keyed():
    return stream().key_by(first)


def windowed():
    return keyed().window(TumblingEventTimeWindows.of(Time.seconds(1)))


def first(pair):
    return pair[0]


class Windows(WindowFunction):
    def apply(self, key, window, inputs):
        yield key


class Contents(ProcessWindowFunction):
    def process(self, key, content, elements):
        yield content.window().start


class TestRenamedParameters:
    @pytest.mark.parametrize(
        "script",
        [
            lambda: stream().flat_map(list, result_type=Types.INT()),
            lambda: keyed().flat_map(list, result_type=Types.INT()),
            lambda: windowed().apply(Windows(), result_type=Types.INT()),
            lambda: windowed().process(Contents(), result_type=Types.INT()),
        ],
    )
    def test_result_type(self, script):
        with pytest.deprecated_call(match="'result_type'.* is called 'output_type'") as warned:
            assert script().get_type() == Types.INT()
        assert warned[0].filename == __file__

    @pytest.mark.parametrize(
        "script",
        [
            lambda: stream().key_by(first, key_type_info=Types.INT()),
            lambda: keyed().key_by(first, key_type_info=Types.INT()),
            lambda: stream().connect(stream()).key_by(first, first, key_type_info=Types.INT()),
        ],
    )
    def test_key_type_info(self, script):
        with pytest.deprecated_call(match="'key_type_info'.* is called 'key_type'"):
            script()

    def test_both_names_are_one_too_many(self):
        with pytest.raises(TypeError, match="got 'output_type' and its former name 'result_type'"):
            stream().flat_map(list, output_type=Types.INT(), result_type=Types.INT())

    def test_other_names_stay_unknown(self):
        with pytest.raises(TypeError, match="unexpected keyword argument 'kind'"):
            stream().flat_map(list, kind=Types.INT())

    def test_the_value_arrives(self):
        @renamed(new="old")
        def function(new=None):
            return new

        with pytest.deprecated_call():
            assert function(old=1) == 1
        assert function(2) == function(new=2) == 2


@pytest.mark.parametrize("name", RAISING)
def test_methods_that_only_raise(name):
    owner, method = name.split(".")
    on = keyed() if owner == "KeyedStream" else object.__new__(CachedDataStream)
    required = [p for p in RAISING[name] if "=" not in p and not p.startswith("*")]
    with pytest.raises(Exception, match=r"not supported|[Cc]annot|can ?not|Cached") as caught:
        getattr(on, method)(*[None for _ in required])
    assert type(caught.value) is Exception


def test_there_are_such_methods():
    assert len(RAISING) == 29


def test_a_timeout_raises_unless_overridden():
    class Calls(AsyncFunction):
        async def async_invoke(self, value):
            return [value]

    with pytest.raises(TimeoutError):
        Calls().timeout(1)


@pytest.mark.parametrize(("keyword", "unknown"), [("result_type", False), ("resulttype", True)])
def test_check_knows_former_names(keyword, unknown):
    script = (
        "from pyflink.datastream import StreamExecutionEnvironment\n"
        "env = StreamExecutionEnvironment.get_execution_environment()\n"
        f"env.from_collection([1]).flat_map(list, {keyword}=None)\n"
    )
    uses = examine("script.py", script).uses
    assert any(use.verdict.status is Status.UNKNOWN for use in uses) is unknown
