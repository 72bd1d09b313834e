"""The findings of the static report on scripts, and their messages."""

from __future__ import annotations

import functools
import json
import textwrap
from typing import Protocol

import pytest

from pyflink_on_spark._compat.unsupported import (
    Gap,
    raise_unsupported,
    refuse_java,
    unsupported,
)
from pyflink_on_spark.tools.check import mirror
from pyflink_on_spark.tools.check.command import main
from pyflink_on_spark.tools.check.script import examine
from pyflink_on_spark.tools.check.values import CallableValue
from pyflink_on_spark.tools.check.verdict import Status, judge

SETUP = """
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment
env = StreamExecutionEnvironment.get_execution_environment()
ds = env.from_collection([1, 2], type_info=Types.INT())
"""


def found(script):
    findings = examine("script.py", textwrap.dedent(script))
    return {use.name: use for use in findings.uses}


def status(script, name):
    return found(script)[name].verdict.status


def test_chains_and_names_are_followed():
    uses = found(
        SETUP
        + "\nds.map(lambda x: x).key_by(\n    lambda x: x\n).count_window(3).reduce(max).print()"
    )
    assert uses["StreamExecutionEnvironment.from_collection"].lines == [5]
    assert uses["DataStream.map"].lines == [7]
    assert uses["DataStream.key_by"].lines == [7]
    assert uses["KeyedStream.count_window"].lines == [9]
    assert uses["WindowedStream.reduce"].verdict.status is Status.WORKS


def test_a_branch_that_is_a_keyed_stream_of_the_broadcast_kind():
    uses = found(
        SETUP
        + """
from pyflink.datastream.state import MapStateDescriptor
rules = ds.broadcast(MapStateDescriptor("m", Types.INT(), Types.INT()))
ds.key_by(lambda x: x).connect(rules).process(f)
ds.connect(ds.broadcast()).map(g)
"""
    )
    assert "BroadcastConnectedStream.process" in uses
    assert "ConnectedStreams.map" in uses


def test_functions_of_the_script_are_followed_through_their_calls():
    uses = found(
        """
        from pyflink.datastream import StreamExecutionEnvironment

        def use(stream):
            stream.rebalance()

        def make(env):
            return env.from_collection([1])

        class Job:
            def __init__(self, env):
                self.env = env
                self.stream = make(self.env)

            def run(self):
                use(self.stream)
                self.env.execute("x")

        Job(StreamExecutionEnvironment.get_execution_environment()).run()
        """
    )
    assert uses["DataStream.rebalance"].lines == [5]
    assert uses["StreamExecutionEnvironment.execute"].lines == [17]


def test_parameters_of_overridden_methods_are_known():
    uses = found(
        """
        from pyflink.common import Types
        from pyflink.datastream import KeyedProcessFunction
        from pyflink.datastream.state import ValueStateDescriptor

        class Count(KeyedProcessFunction):
            def open(self, context):
                self.count = context.get_state(ValueStateDescriptor("n", Types.LONG()))

            def process_element(self, value, ctx):
                self.count.update(1)
                ctx.timer_service().register_event_time_timer(1)
        """
    )
    assert uses["ValueState.update"].lines == [11]
    assert uses["TimerService.register_event_time_timer"].lines == [12]
    assert uses["KeyedProcessFunction (as a base class)"].lines == [6]


def test_names_that_do_not_exist():
    uses = found(SETUP + "from pyflink.common import Nonsense\nds.frobnicate()\nds.map(f, types=1)")
    unknown = {name for name, use in uses.items() if use.verdict.status is Status.UNKNOWN}
    assert unknown == {
        "pyflink.common.Nonsense",
        "DataStream.frobnicate",
        "DataStream.map(types=...)",
    }


def test_a_test_of_an_error_does_not_prevent_a_script_from_running():
    script = SETUP + "with pytest.raises(TypeError):\n    ds.{0}()"
    assert not found(script.format("frobnicate"))["DataStream.frobnicate"].called
    assert found(SETUP + "with open('x'):\n    ds.nothing()")["DataStream.nothing"].called


def test_private_modules_of_this_package_are_no_names_of_pyflink():
    assert found("from pyflink_on_spark._sql.types.logical import INT\nINT.nothing()") == {}


def test_members_that_protocols_declare():
    class Started(Protocol):
        def start(self) -> None: ...

    member = Started.__dict__["start"]
    assert mirror.known_owner(Started, Started) is Started
    assert mirror.member_value(Started, member, Started) == CallableValue(member, Started)


def test_markers_of_static_methods_are_not_given_one_argument_too_many():
    uses = found(
        """
        from pyflink.datastream.connectors.elasticsearch import ElasticsearchEmitter
        ElasticsearchEmitter.static_index("index", "id", "type")
        """
    )
    assert Status.WRONG not in {use.verdict.status for use in uses.values()}


def test_what_only_a_subclass_has_is_not_called_unknown():
    uses = found(
        """
        from pyflink.datastream import Trigger
        from pyflink.datastream.state import ValueStateDescriptor

        class Mine(Trigger):
            def on_element(self, element, timestamp, window, ctx: 'Trigger.TriggerContext'):
                ctx.get_partitioned_state(ValueStateDescriptor("n", None)).value()
        """
    )
    assert not any(use.verdict.status is Status.UNKNOWN for use in uses.values())


def test_a_variable_that_is_used_anew_is_not_mistaken():
    uses = found(SETUP + "ds = []\nds.append(1)")
    assert not any(use.verdict.status is Status.UNKNOWN for use in uses.values())


def test_what_is_missing_of_the_table_api_is_told():
    uses = found(
        SETUP
        + """
from pyflink.table import StreamTableEnvironment
from pyflink.table.gateway import anything
t_env = StreamTableEnvironment.create(env)
table = t_env.from_path("x")
t_env.to_data_stream(table).map(f)
"""
    )
    missing = uses["pyflink.table.gateway.anything"]
    assert missing.verdict.status is Status.NOT_YET
    assert "Table API" in missing.verdict.reason
    assert uses["pyflink.table.StreamTableEnvironment"].verdict.status is Status.WORKS
    assert uses["DataStream.map"].lines == [11]


def test_jars_are_not_needed():
    use = found('env.add_jars("file:///lib/flink-sql-connector-kafka-3.0.jar")')
    assert use["flink-sql-connector-kafka-3.0.jar"].verdict.status is Status.DIFFERS
    assert "No jar is needed" in use["flink-sql-connector-kafka-3.0.jar"].verdict.reason


@pytest.mark.parametrize(
    ("script", "name"),
    [
        ("from pyflink.java_gateway import get_gateway", "pyflink.java_gateway.get_gateway"),
        ("x = unknown._j_data_stream", "_j_data_stream"),
        (SETUP + "env._j_stream_execution_environment.fail()", "_j_stream_execution_environment"),
    ],
)
def test_java_never_works(script, name):
    assert status(script, name) is Status.NEVER


def test_a_marked_method_has_its_marker_s_verdict():
    def method(self):
        """Do something."""

    marker = unsupported(method, kind=Gap.NEVER, reason="it is Java", instead="Do without.")
    verdict = judge(marker)
    assert verdict.status is Status.NEVER
    assert verdict.advice == "Do without."
    assert "it is Java" in verdict.reason


def test_a_function_that_always_refuses_is_a_gap_and_one_that_may_differs():
    def always(x):
        check = x
        raise_unsupported("f()", kind=Gap.NOT_YET, reason="soon", instead=f"Wait for {check}.")

    def sometimes(x):
        if x:
            raise_unsupported("f(x)", kind=Gap.NEVER, reason="no", instead="Leave x out.")

    assert judge(always).status is Status.NOT_YET
    assert judge(always).advice == "Wait for ...."
    assert judge(sometimes).status is Status.DIFFERS
    assert judge(sometimes).advice == "Leave x out."


def test_a_helper_that_refuses_has_the_arguments_of_its_call():
    class Handle:
        def __init__(self, j_handle):
            refuse_java("Handle(j_handle)", reason=f"{j_handle} is Java", instead="Do without.")

    class Backend:
        def __init__(self, j_backend):
            refuse_java("Backend(j_backend)", instead="Use another one.")

    assert judge(Handle).advice == "Do without."
    assert judge(Handle).reason.endswith("... is Java")
    assert judge(Backend).reason.endswith("a Java class has no meaning outside Flink's JVM")
    assert judge(Backend).advice == "Use another one."


def test_a_constructor_that_is_marked_is_a_gap():
    class Sink:
        @functools.partial(
            unsupported, kind=Gap.NOT_YET, reason="no client", instead="Write files."
        )
        def __init__(self): ...

    assert judge(Sink).status is Status.NOT_YET
    assert judge(Sink).advice == "Write files."


def test_a_deviation_is_read_off_the_docstring():
    def function():
        """Set something.

        On Spark: recorded,
        without effect.

        Returns:
            Nothing.
        """

    assert judge(function).status is Status.DIFFERS
    assert judge(function).reason == "Recorded, without effect."


def test_exit_status_and_json(tmp_path, capsys):
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text(SETUP)
    bad.write_text(SETUP + "ds.frobnicate()")
    (tmp_path / "other.py").write_text("import os")
    assert main([str(good)]) == 0
    assert "1 of 1 script can run" in capsys.readouterr().out
    assert main([str(tmp_path), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert [(script["path"], script["runs"]) for script in report["scripts"]] == [
        (str(bad), False),
        (str(good), True),
    ]
    assert main([str(tmp_path / "none.py")]) == 2


def test_a_file_that_is_not_python(tmp_path, capsys):
    script = tmp_path / "broken.py"
    script.write_text("def (:")
    assert main([str(script)]) == 1
    assert "cannot be read as Python" in capsys.readouterr().out


def test_what_works_is_listed_on_demand(tmp_path, capsys):
    script = tmp_path / "good.py"
    script.write_text(SETUP)
    main([str(script)])
    assert "from_collection" not in capsys.readouterr().out
    main([str(script), "--all"])
    assert "StreamExecutionEnvironment.from_collection, line 5" in capsys.readouterr().out
