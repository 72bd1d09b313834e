"""Which parts of a script the static report takes for what runs, and the mistakes that it sees."""

from __future__ import annotations

import json
import textwrap

import pytest

from pyflink_on_spark.tools.check.command import main
from pyflink_on_spark.tools.check.script import examine
from pyflink_on_spark.tools.check.verdict import Status

SETUP = """
from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import *
env = StreamExecutionEnvironment.get_execution_environment()
ds = env.from_collection([1, 2], type_info=Types.INT())
"""


def examined(script):
    return examine("script.py", SETUP + textwrap.dedent(script))


def names(script):
    return {use.name for use in examined(script).uses}


def mistakes(script):
    uses = examined(script).uses
    return {use.name: use.verdict.reason for use in uses if use.verdict.status is Status.WRONG}


# -- imports with a fallback -----------------------------------------------------------------------


def test_a_class_with_a_fallback_is_followed():
    used = names(
        """
        try:
            from pyflink.datastream.connectors.number_seq import NumberSequenceSource as Numbers
        except ImportError:
            Numbers = None
        env.from_source(Numbers(1, 2), WatermarkStrategy.no_watermarks(), "n").map(str).print()
        """
    )
    assert {"DataStream.map", "DataStream.print"} <= used


def test_a_local_class_does_not_hide_the_imported_one():
    assert "NumberSequenceSource.nothing" in names(
        """
        try:
            from pyflink.datastream.connectors.number_seq import NumberSequenceSource
        except ImportError:
            class NumberSequenceSource:
                pass
        NumberSequenceSource(1, 2).nothing()
        """
    )


@pytest.mark.parametrize("error", ["ImportError", "(ImportError, AttributeError)", "Exception", ""])
def test_what_is_not_there_has_its_fallback(error):
    findings = examined(
        f"""
        try:
            from pyflink.datastream.no_such_module import Source
        except {error}:
            from pyflink.datastream.connectors.number_seq import NumberSequenceSource as Source
        env.from_source(Source(1, 2), WatermarkStrategy.no_watermarks(), "n").print()
        """
    )
    assert findings.runs
    assert "DataStream.print" in {use.name for use in findings.uses}


@pytest.mark.parametrize("end", ["raise", "sys.exit(1)"])
def test_a_fallback_that_ends_the_script_is_none(end):
    assert not examined(
        f"""
        import sys
        try:
            from pyflink.datastream.no_such_module import Source
        except ImportError:
            print("not installed")
            {end}
        """
    ).runs


# -- names that are bound again--------------------------------------------------------------------


def test_what_another_module_returns_is_not_known():
    assert "DataStream.nothing" not in names(
        """
        from elsewhere import aggregate
        ds = aggregate(ds)
        ds.nothing()
        """
    )


def test_a_name_keeps_what_both_branches_agree_on():
    used = names(
        """
        import sys
        if len(sys.argv) > 1:
            ds = ds.map(str)
        else:
            ds = ds.filter(bool)
        ds.nothing()
        """
    )
    assert "DataStream.nothing" in used


def test_a_branch_is_not_mistaken_for_the_other():
    used = names(
        """
        import sys
        if len(sys.argv) > 1:
            thing = ds
            thing.map(str)
        else:
            thing = env
            thing.set_parallelism(2)
        """
    )
    assert {"DataStream.map", "StreamExecutionEnvironment.set_parallelism"} <= used
    assert "DataStream.set_parallelism" not in used


# -- what is not called ----------------------------------------------------------------------------

NEEDS_JAVA = "env._j_stream_execution_environment.nothing()"


@pytest.mark.parametrize(
    "unused",
    [
        f"def unused():\n    {NEEDS_JAVA}",
        f"def unused():\n    other()\n\ndef other():\n    {NEEDS_JAVA}",
        f"class Unused:\n    def run(self):\n        {NEEDS_JAVA}",
        f"if False:\n    {NEEDS_JAVA}",
        f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    {NEEDS_JAVA}",
    ],
    ids=["function", "function of a function", "class", "if False", "TYPE_CHECKING"],
)
def test_what_nothing_calls_is_a_warning(unused, tmp_path, capsys):
    script = tmp_path / "script.py"
    script.write_text(f"{SETUP}\n{unused}\nenv.execute()\n")
    assert main([str(script)]) == 0
    out = capsys.readouterr().out
    assert "can run" in out
    assert "(not called by the script)" in out
    main([str(script), "--json"])
    uses = json.loads(capsys.readouterr().out)["scripts"][0]["uses"]
    assert [use["called"] for use in uses if use["status"] == "never"] == [False]


@pytest.mark.parametrize(
    "used",
    [
        f"def main():\n    {NEEDS_JAVA}\nmain()",
        f"def main():\n    inner()\ndef inner():\n    {NEEDS_JAVA}\nif 1:\n    main()",
        f"def function(v):\n    {NEEDS_JAVA}\nds.map(function)",
        f"class F(MapFunction):\n    def map(self, v):\n        {NEEDS_JAVA}\nds.map(F())",
        f"class A:\n    def run(self):\n        {NEEDS_JAVA}\nclass B(A):\n    pass\nB().run()",
        f"@register\ndef handler():\n    {NEEDS_JAVA}\nstart()",
        f"def handler():\n    {NEEDS_JAVA}\nglobals()['handler']()",
    ],
    ids=["call", "main", "function", "class", "base class", "decorator", "by name"],
)
def test_what_may_be_called_counts(used):
    assert not examined(used).runs


def test_a_module_of_definitions_may_be_called_by_others():
    job = f"def job(env: StreamExecutionEnvironment):\n    {NEEDS_JAVA}"
    assert not examine("module.py", f"from pyflink.datastream import *\n{job}").runs


# -- mistakes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "name", "reason"),
    [
        ("ds.map()", "DataStream.map", "it needs func"),
        ("ds.map(str, Types.STRING(), 3)", "DataStream.map", "it takes 2 arguments at most"),
        ("ds.key_by(str).reduce(lambda a: a)", "KeyedStream.reduce", "it calls func with 2"),
        ("ds.map(lambda a, b: a)", "DataStream.map", "it calls func with 1 argument"),
        ("ds.flat_map(lambda v: None)", "DataStream.flat_map", "this one returns None"),
        (
            "ds.assign_timestamps_and_watermarks(None)",
            "DataStream.assign_timestamps_and_watermarks",
            "watermark_strategy cannot be None",
        ),
        (
            "env.from_source(1, watermark_strategy=None, source_name='s')",
            "StreamExecutionEnvironment.from_source",
            "watermark_strategy cannot be None",
        ),
        ("Types.LIST()", "Types.LIST", "it needs element_type_info"),
        ("OutputTag(None)", "OutputTag", "tag_id cannot be None"),
    ],
)
def test_wrong_calls(call, name, reason):
    found = mistakes(f"from pyflink.datastream import OutputTag\n{call}")
    assert reason in found[name]


def test_a_function_that_gives_nothing_to_iterate():
    found = mistakes(
        """
        class Splits(FlatMapFunction):
            def flat_map(self, value):
                value.split()

        class Fires(KeyedProcessFunction):
            def process_element(self, value):
                yield value

            def on_timer(self, timestamp, ctx):
                self.state.clear()

        class Never(KeyedProcessFunction):
            def process_element(self, value, ctx):
                self.state.update(value)

            def on_timer(self, timestamp, ctx):
                pass

        def split(value):
            print(value)

        ds.flat_map(Splits()).key_by(str).process(Fires())
        ds.key_by(str).process(Never())
        ds.flat_map(split)
        """
    )
    assert found == {
        "FlatMapFunction.flat_map": "its results are iterated, and this one returns None",
        "KeyedProcessFunction.process_element": (
            "it is called with 2 arguments, and this one takes 1"
        ),
        "KeyedProcessFunction.on_timer": "its results are iterated, and this one returns None",
        "DataStream.flat_map": "its results are iterated, and this one returns None",
    }


@pytest.mark.parametrize(
    "fine",
    [
        "ds.map(lambda v, n=1: v)",
        "ds.map(lambda *v: v)",
        "ds.map(*[str])",
        "ds.map(func=str, output_type=None)",
        "ds.key_by(str, key_type_info=None)",
        "ds.key_by(str).reduce(max)",
        "ds.flat_map(lambda v: range(v))",
        "ds.print(None)",
        "env.execute()",
        "ds.partition_custom(lambda k, n: 0, lambda v: v)",
    ],
)
def test_what_is_fine(fine):
    assert mistakes(fine) == {}


# -- what a test or an assignment says of an object -----------------------------------------------


def test_a_name_is_of_another_class_after_the_branch_of_its_own():
    used = names(
        """
        def described(found):
            if isinstance(found, StreamExecutionEnvironment):
                found.nowhere()
                return "environment"
            return found.elsewhere

        described(env)
        described(object())
        """
    )
    assert "StreamExecutionEnvironment.nowhere" in used
    assert "StreamExecutionEnvironment.elsewhere" not in used


def test_a_name_is_of_the_same_class_after_a_branch_without_an_end():
    used = names(
        """
        def described(found):
            if isinstance(found, StreamExecutionEnvironment):
                print("environment")
            found.later()

        described(env)
        """
    )
    assert "StreamExecutionEnvironment.later" in used


def test_an_attribute_that_the_script_sets_is_there():
    used = names(
        """
        env.own_stream = ds
        env.own_stream.map(str).nothing()
        env.own_word.x()
        """
    )
    assert "DataStream.nothing" in used
    assert "StreamExecutionEnvironment.own_word" in used
    assert "StreamExecutionEnvironment.own_stream" not in used
