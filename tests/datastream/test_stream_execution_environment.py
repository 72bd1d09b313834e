"""The environment, as far as nothing runs."""

from __future__ import annotations

import pytest

from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature
from pyflink_on_spark.common import Configuration, Types, WatermarkStrategy
from pyflink_on_spark.common.time import Duration
from pyflink_on_spark.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.file_system import FileSource, StreamFormat
from pyflink_on_spark.util.java_utils import get_j_env_configuration


@pytest.fixture
def env():
    return StreamExecutionEnvironment.get_execution_environment()


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("parallelism.default", "0", "Parallelism must be at least one"),
        ("parallelism.default", "many", "parallelism.default"),
        ("pipeline.auto-watermark-interval", "-1 s", "pipeline.auto-watermark-interval"),
        ("execution.checkpointing.interval", "often", "execution.checkpointing.interval"),
    ],
)
def test_a_configuration_that_cannot_be_changes_nothing(env, key, value, text):
    wrong = Configuration().set_string("pipeline.name", "new").set_string(key, value)
    with pytest.raises(ValueError, match=text):
        env.configure(wrong)
    with pytest.raises(ValueError, match=text):
        StreamExecutionEnvironment.get_execution_environment(wrong)
    assert env._configuration.to_dict() == {}


def test_a_configuration_is_taken_over(env):
    env.set_parallelism(3)
    env.configure(Configuration().set_string("pipeline.name", "n"))
    env.configure(Configuration().set_integer("parallelism.default", 2))
    assert env.get_parallelism() == 2
    assert env._configuration.get_string("pipeline.name", "") == "n"


def test_the_configuration_behind_the_java_handle(env):
    handle = env._j_stream_execution_environment
    view = Configuration(j_configuration=get_j_env_configuration(handle))
    view.set_integer("parallelism.default", 7)
    assert env.get_parallelism() == 7
    assert StreamExecutionEnvironment(handle).get_parallelism() == 7


def test_methods_of_the_java_object_are_refused(env):
    with pytest.raises(
        UnsupportedFlinkFeature, match=r"_j_stream_execution_environment\.getConfig"
    ):
        env._j_stream_execution_environment.getConfig()


def test_an_operator_on_a_closed_environment(env):
    stream = env.from_collection([1])
    env.close()
    for call in (lambda: stream.map(str), env.execute, lambda: env.from_collection([1])):
        with pytest.raises(
            RuntimeError, match="StreamExecutionEnvironment is closed: get a new one"
        ):
            call()


def test_nothing_to_run(env):
    for call in (env.execute, env.execute_async, env.get_execution_plan):
        with pytest.raises(ValueError, match="No operators defined in streaming topology"):
            call()


def test_batch_mode_needs_sources_that_end(env, tmp_path):
    source = (
        FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path))
        .monitor_continuously(Duration.of_seconds(1))
        .build()
    )
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    env.from_source(source, WatermarkStrategy.no_watermarks(), "watched").print()
    with pytest.raises(ValueError, match=rf"the source 'watched' \(added at {__file__}:\d+\)"):
        env.execute()


def test_a_function_that_cannot_be_pickled(env, tmp_path):
    with (tmp_path / "log").open("w") as log:
        numbers = env.from_collection([1], Types.INT())
        with pytest.raises(TypeError, match=r"cannot be sent to the workers") as caught:
            numbers.map(lambda n: log.write(str(n)))
    assert "it holds log = TextIOWrapper object" in str(caught.value)
    assert "Create such objects in open()" in str(caught.value)
    assert caught.value.__suppress_context__


def test_something_else_than_a_source(env):
    with pytest.raises(TypeError, match="str is not a source"):
        env.from_source("file.txt", WatermarkStrategy.no_watermarks(), "s")
