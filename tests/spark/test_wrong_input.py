"""The message for a user when something is wrong."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time

import pytest

from pyflink_on_spark.common import Types
from pyflink_on_spark.common.serialization import Encoder
from pyflink_on_spark.common.watermark_strategy import WatermarkStrategy
from pyflink_on_spark.datastream import RuntimeExecutionMode
from pyflink_on_spark.datastream.connectors.file_system import (
    FileSink,
    FileSource,
    StreamFormat,
)
from pyflink_on_spark.errors import EnvironmentSetupError, JobExecutionError

TASK = "Collection Source -> Map -> Print to Std. Out"
SCRIPT = """\
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
(
    env.from_collection([5, 2, 0, 4], Types.INT())
    .map(lambda n: 10 // n)
    .print()
)
env.execute()
"""


def run_script(folder, script, *options, **environment):
    (folder / "script.py").write_text(textwrap.dedent(script))
    inherited = {name: value for name, value in os.environ.items() if name != "PYSPARK_PYTHON"}
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return subprocess.run(
        [sys.executable, "-m", "pyflink_on_spark", *options, "script.py"],
        cwd=folder,
        env={**inherited, "PYTHONPATH": root, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )


def test_all_that_a_failing_script_prints(tmp_path):
    done = run_script(tmp_path, SCRIPT)
    assert done.returncode == 1
    assert done.stdout == "2\n5\n"
    lines = [line for line in done.stderr.splitlines() if "^" not in line]
    assert lines[:3] == [
        "Traceback (most recent call last):",
        '  File "script.py", line 11, in <module>',
        "    env.execute()",
    ]
    assert lines[3].endswith("JobExecutionError: Traceback (most recent call last):")
    assert lines[4:] == [
        '  File "script.py", line 8, in <lambda>',
        "    .map(lambda n: 10 // n)",
        "ZeroDivisionError: integer division or modulo by zero",
        f"in operator 'Map', added at script.py:8 (task {TASK} (1/1))",
        "while it worked on 0",
    ]
    assert len(lines) == 9


def test_without_java(tmp_path):
    done = run_script(tmp_path, SCRIPT, PATH=str(tmp_path), JAVA_HOME="")
    assert done.returncode == 1
    assert done.stderr.startswith("script.py, line 11: Spark 4 needs Java 17 or 21: install one")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["-s", "nowhere"], "there is no complete checkpoint in nowhere: _metadata is missing"),
        (["-Drest.port={port}"], "the REST API cannot listen on 127.0.0.1, port {port}: "),
        (["-Drest.port=0", "-Drest.bind-address=0.0.0.0"], "rest.bind-address is 0.0.0.0, which"),
    ],
)
def test_options_of_the_command_line_that_cannot_be_used(tmp_path, options, told):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        given = [option.format(port=port) for option in options]
        done = run_script(tmp_path, SCRIPT, *given)
    assert done.returncode == 1
    assert done.stderr.startswith(f"script.py, line 11: {told.format(port=port)}")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("mode", [RuntimeExecutionMode.STREAMING, RuntimeExecutionMode.BATCH])
def test_the_failure_of_a_function(env, mode):
    def parse(text):
        return int(text)

    env.set_runtime_mode(mode)
    env.from_collection(["1", "2", "x" * 10_000]).map(parse).print()
    with pytest.raises(JobExecutionError) as caught:
        env.execute()
    text = str(caught.value)
    assert text.startswith("Traceback (most recent call last):\n")
    assert "return int(text)\n" in text
    assert f"in operator 'Map', added at {__file__}:" in text
    assert "while it worked on 'xxxx" in text
    assert text.index("ValueError: invalid literal") < text.index("while it worked on")
    assert len(text[text.index("while it worked on") :]) < 1000


def test_a_result_that_is_not_of_the_declared_type(env):
    stream = env.from_collection([1, 2])
    stream = stream.map(lambda n: n if n == 1 else "two", Types.INT())
    stream.print()
    with pytest.raises(JobExecutionError) as caught:
        env.execute()
    first, place = str(caught.value).splitlines()[:2]
    assert first == (
        "pyflink_on_spark.errors.ConversionTypeError: expected Integer, got str 'two': "
        "an integer is required"
    )
    assert place.startswith(f"in operator 'Map', added at {__file__}:")


def test_a_file_that_is_missing(env):
    source = FileSource.for_record_stream_format(
        StreamFormat.text_line_format(), "/nowhere/in.txt"
    ).build()
    env.from_source(source, WatermarkStrategy.no_watermarks(), "lines").print()
    with pytest.raises(FileNotFoundError, match=r"does not exist: /nowhere/in\.txt"):
        env.execute()


def test_an_interpreter_that_is_missing(env):
    env.set_python_executable("/nowhere/python")
    env.from_collection([1]).print()
    with pytest.raises(EnvironmentSetupError, match=r"set_python_executable.*/nowhere/python"):
        env.execute()


@pytest.mark.parametrize("mode", [RuntimeExecutionMode.STREAMING, RuntimeExecutionMode.BATCH])
def test_a_worker_that_is_killed(env, mode):
    env.set_runtime_mode(mode)
    env.from_collection([1]).map(lambda _: os.kill(os.getpid(), signal.SIGKILL)).print()
    lost = (
        "'killed' failed: a Python worker process ended unexpectedly: .* it ran 'Collection Source"
    )
    with pytest.raises(JobExecutionError, match=lost):
        env.execute("killed")


def test_a_function_that_ends_its_worker(env):
    env.from_collection([1]).map(lambda _: os._exit(3)).name("leaves").print()
    with pytest.raises(
        JobExecutionError, match=r"os._exit\(3\) was called(.|\n)*in operator 'leaves'"
    ):
        env.execute()


def test_a_function_that_fails_to_close(tmp_path):
    script = """\
        from pyflink.datastream import MapFunction, StreamExecutionEnvironment

        class Same(MapFunction):
            def map(self, value):
                return value

            def close(self):
                raise OSError("not flushed")

        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_parallelism(1)
        env.from_collection([1]).map(Same()).print()
        env.execute()
    """
    done = run_script(tmp_path, script)
    assert done.returncode == 0
    assert done.stdout == "1\n"
    assert "close() of Same failed in the task" in done.stderr
    assert "OSError: not flushed" in done.stderr


def test_after_a_failure_the_next_job_runs(env):
    env.from_collection([1]).map(lambda n: n / 0).print()
    with pytest.raises(JobExecutionError):
        env.execute()
    with env.from_collection([1]).execute_and_collect() as results:
        assert list(results) == [1]


def test_a_console_that_is_closed(env, monkeypatch):
    class Closed:
        def write(self, text):
            raise BrokenPipeError(32, "Broken pipe")

        def flush(self):
            pass

    env.from_collection([1]).print()
    monkeypatch.setattr(sys, "stdout", Closed())
    with pytest.raises(JobExecutionError, match=r"could not write to .* output: BrokenPipeError"):
        env.execute()


def test_a_failed_job_leaves_no_files(env, tmp_path):
    """The subtask without the bad element has prepared its file when the other fails."""
    env.set_parallelism(2)

    out = tmp_path / "out"

    def fail(text):
        if text == "bad":
            while not out.is_dir():
                time.sleep(0.01)
            raise ValueError(text)
        return text

    sink = FileSink.for_row_format(str(out), Encoder.simple_string_encoder()).build()
    words = env.from_collection(["a", "b", "bad", "d"], Types.STRING()).rebalance()
    words.map(fail, Types.STRING()).sink_to(sink)
    with pytest.raises(JobExecutionError, match="ValueError: bad"):
        env.execute()
    assert [path for path in out.rglob("*") if path.is_file()] == []
