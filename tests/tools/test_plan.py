"""The graph of a script as text, JSON and a picture; nothing of it is run."""

from __future__ import annotations

import itertools
import json
import re
import textwrap
import xml.etree.ElementTree as ET

import pytest

from pyflink_on_spark._job.job import current_engine, install_engine
from pyflink_on_spark.common import Types
from pyflink_on_spark.datastream import OutputTag, ProcessFunction, StreamExecutionEnvironment
from pyflink_on_spark.testing import LocalEngine
from pyflink_on_spark.tools.plan.command import main, text_of
from pyflink_on_spark.tools.plan.diagram import Role, diagram_of, lay_out
from pyflink_on_spark.tools.plan.recording import recording

SCRIPT = """
import sys
from pyflink_on_spark.datastream import StreamExecutionEnvironment

def fail(x):
    raise AssertionError("this runs nothing")

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
print("parallel", *sys.argv[1:])
env.from_collection(["a"]).map(fail).key_by(fail).reduce(fail).print()
env.execute("<words> & more")
print("done")
"""
NUMBER = Types.INT()


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "words.py"
    path.write_text(SCRIPT)
    yield path
    install_engine(None)


@pytest.fixture
def env():
    environment = StreamExecutionEnvironment.get_execution_environment()
    environment.set_parallelism(2)
    return environment


def diagram(env):
    with recording() as engine:
        env.execute("job")
    return diagram_of(engine.jobs[0])


def test_text(script, capsys):
    assert main([str(script), "--", "one", "two"]) == 0
    shown = capsys.readouterr()
    assert shown.err == "parallel one two\ndone\n"
    assert shown.out == (
        "<words> & more (STREAMING, 3 stages, 2 exchanges)\n"
        "\n"
        "stage 1\n"
        "  [1] 1 subtask\n"
        "      source: Collection Source                     words.py:11\n"
        "      => REBALANCE to [2] Map\n"
        "\n"
        "stage 2\n"
        "  [2] 2 subtasks\n"
        "      Map                                           words.py:11\n"
        "      key by                                        words.py:11\n"
        "      => HASH to [3] Reduce\n"
        "\n"
        "stage 3\n"
        "  [3] 2 subtasks\n"
        "      Reduce                                        words.py:11\n"
        "      Map                                           words.py:11\n"
        "      sink: Print to Std. Out                       words.py:11\n"
    )


def test_json_is_flink_s(script, capsys):
    assert main([str(script), "--format", "json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert [node["pact"] for node in plan["nodes"]] == [
        "Data Source",
        "Operator",
        "Operator",
        "Data Sink",
    ]


def test_a_picture_goes_to_a_file_and_is_well_formed(script, tmp_path, capsys):
    picture = tmp_path / "plan.svg"
    assert main([str(script), "-o", str(picture)]) == 0
    assert capsys.readouterr().out == ""
    texts = [node.text for node in ET.parse(picture).iter() if node.tag.endswith("}text")]
    assert "<words> & more" in texts
    assert {"HASH", "REBALANCE", "Reduce", "words.py:11", "SOURCE", "SINK", "STAGE 3"} <= set(texts)


def test_a_picture_of_a_kind_that_is_not_made(script, tmp_path, capsys):
    assert main([str(script), "-o", str(tmp_path / "plan.png")]) == 2
    assert "*.svg" in capsys.readouterr().err
    assert not (tmp_path / "plan.png").exists()


def test_scripts_that_are_not_there_or_run_nothing(tmp_path, capsys):
    assert main([str(tmp_path / "none.py")]) == 2
    empty = tmp_path / "empty.py"
    empty.write_text("")
    assert main([str(empty)]) == 1
    assert "without executing a job" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("n = (", ["  File {file}, line 1", "    n = (", "        ^", "SyntaxError: "]),
        ("int('a')", [
            "Traceback (most recent call last):", "  File {file}, line 1, in <module>",
            "    int('a')", "ValueError: ",
        ]),
    ],
)  # fmt: skip
def test_a_script_that_fails_is_told_of_as_python_tells_it(tmp_path, capsys, text, told):
    script = tmp_path / "failing.py"
    script.write_text(text)
    with pytest.raises(SystemExit) as ended:
        main([str(script)])
    assert ended.value.code == 1
    lines = "\n".join(told).format(file=f'"{script}"')
    assert capsys.readouterr().err.startswith(lines)


def test_every_way_to_run_a_job_is_planned(tmp_path, capsys):
    script = tmp_path / "all.py"
    script.write_text(
        textwrap.dedent(
            """
            from pyflink_on_spark.datastream import StreamExecutionEnvironment

            env = StreamExecutionEnvironment.get_execution_environment()
            stream = env.from_collection([1]).map(lambda v: v)
            with stream.execute_and_collect("collected") as results:
                assert list(results) == []
            stream.print()
            client = env.execute_async("background")
            client.get_job_execution_result().result()
            stream.print()
            client = env.execute_async("saved")
            assert client.trigger_savepoint("there").result() == "there"
            assert client.stop_with_savepoint(False).result()
            client.cancel().result()
            """
        )
    )
    assert main([str(script), "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 3


def test_a_script_that_needs_results_is_planned_as_far_as_it_comes(tmp_path, capsys):
    script = tmp_path / "needs.py"
    script.write_text(
        textwrap.dedent(
            """
            from pyflink_on_spark.datastream import StreamExecutionEnvironment

            env = StreamExecutionEnvironment.get_execution_environment()
            next(env.from_collection([1]).execute_and_collect("first"))
            """
        )
    )
    assert main([str(script)]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("first (STREAMING")
    assert "ended in line 5 with StopIteration" in captured.err


def test_sources_that_are_not_there_can_be_planned(env):
    from pyflink_on_spark.common import WatermarkStrategy
    from pyflink_on_spark.datastream.connectors.file_system import FileSource, StreamFormat

    form = StreamFormat.text_line_format()
    source = FileSource.for_record_stream_format(form, "/there/is/none").build()
    env.from_source(source, WatermarkStrategy.no_watermarks(), "lines").print()
    assert diagram(env).boxes[0].rows[0].name == "lines"


def test_the_engine_before_is_there_again():
    install_engine(LocalEngine())
    try:
        with recording() as engine:
            assert current_engine() is engine
        assert isinstance(current_engine(), LocalEngine)
    finally:
        install_engine(None)


def test_side_outputs_and_roles(env):
    tag = OutputTag("late", NUMBER)

    class Split(ProcessFunction):
        def process_element(self, value, ctx):
            yield tag, value

    split = env.from_collection([1], NUMBER).process(Split(), NUMBER)
    split.get_side_output(tag).rebalance().print()
    split.print()
    shown = diagram(env)
    assert [row.role for box in shown.boxes for row in box.rows].count(Role.SINK) == 2
    assert any(arrow.side for arrow in shown.arrows)
    assert "side" in text_of(shown)


def test_boxes_do_not_overlap_and_arrows_go_right(env):
    streams = [env.from_collection([n], NUMBER).name(f"source {n}") for n in range(4)]
    united = streams[0].union(*streams[1:]).key_by(lambda x: x).sum(0)
    united.rebalance().map(lambda x: x, NUMBER).union(streams[0]).rescale().print()
    united.print()
    layout = lay_out(diagram(env))
    for one, other in itertools.combinations(layout.places, 2):
        beside = one.x + one.width <= other.x or other.x + other.width <= one.x
        below = one.y + one.height <= other.y or other.y + other.height <= one.y
        assert beside or below
    for route in layout.routes:
        xs = [x for x, _ in route.points]
        assert xs == sorted(xs)
        assert all(0 <= y <= layout.height for _, y in route.points)


def test_the_code_of_a_job_is_shown_and_its_functions_are_not_opened(tmp_path, capsys):
    script = tmp_path / "words.py"
    script.write_text(
        textwrap.dedent("""
            from pyflink_on_spark.common import Types
            from pyflink_on_spark.datastream import MapFunction, StreamExecutionEnvironment

            class Pairs(MapFunction):
                def open(self, runtime_context):
                    raise AssertionError("this opens nothing")

                def map(self, value):
                    return value, 1

            env = StreamExecutionEnvironment.get_execution_environment()
            env.set_parallelism(1)
            pairs = Types.TUPLE([Types.STRING(), Types.INT()])
            words = env.from_collection(["a"], Types.STRING()).map(Pairs(), pairs)
            words.key_by(lambda pair: pair[0], Types.STRING()).sum(1).print()
            env.execute()
        """)
    )
    try:
        assert main(["--code", str(script)]) == 0
    finally:
        install_engine(None)
    shown = capsys.readouterr().out
    assert "# Collection Source -> Map -> Reduce -> Print to Std. Out" in shown
    assert "Pairs.map, words.py:9" in shown
    compile(shown, "shown", "exec")
    assert shown.count("# in line: ") == 2
    for name in ("first", "fit"):
        assert re.search(rf"\b{name}\d+\(", shown)


def test_what_a_typed_source_emits_is_not_tested(tmp_path, capsys):
    script = tmp_path / "numbers.py"
    script.write_text(
        textwrap.dedent("""
            from pyflink_on_spark.common import Types, WatermarkStrategy
            from pyflink_on_spark.datastream import StreamExecutionEnvironment
            from pyflink_on_spark.datastream.connectors.number_seq import NumberSequenceSource

            env = StreamExecutionEnvironment.get_execution_environment()
            env.set_parallelism(1)
            rule = WatermarkStrategy.no_watermarks()
            numbers = env.from_source(NumberSequenceSource(1, 9), rule, "numbers", Types.LONG())
            pairs = Types.TUPLE([Types.LONG(), Types.INT()])
            numbers.map(lambda n: (n, n % 7), pairs).filter(lambda pair: pair[1] == 3).print()
            env.execute()
        """)
    )
    try:
        assert main(["--code", str(script)]) == 0
    finally:
        install_engine(None)
    shown = capsys.readouterr().out
    assert "if not (value3 == 3): continue" in shown
    assert "type(" not in shown


def test_the_code_of_a_query_is_shown_where_it_is_no_loop(tmp_path, capsys):
    script = tmp_path / "sums.py"
    script.write_text(
        textwrap.dedent("""
            from pyflink.table import EnvironmentSettings, TableEnvironment

            env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
            numbers = "'connector' = 'datagen', 'number-of-rows' = '5'"
            env.execute_sql(f"CREATE TABLE origin (k INT, v INT) WITH ({numbers})")
            env.execute_sql("CREATE TABLE target (k INT, v INT) WITH ('connector' = 'blackhole')")
            env.execute_sql("INSERT INTO target SELECT k, SUM(v + 3) FROM origin GROUP BY k")
        """)
    )
    try:
        assert main(["--code", str(script)]) == 0
    finally:
        install_engine(None)
    shown = capsys.readouterr().out
    compile(shown, "shown", "exec")
    assert "# Exchange: program" in shown
    grouped = shown.partition("# GroupAggregate: program")[2]
    assert "acc[2] += " in grouped
