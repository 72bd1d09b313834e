"""Part files in folders that elements name."""

from __future__ import annotations

import pytest

from pyflink_on_spark._compat.errors import JobExecutionError
from pyflink_on_spark.common import Encoder, Types
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.file_system import FileSink, StreamingFileSink
from pyflink_on_spark.extensions import bucket_assigner
from pyflink_on_spark.testing import install_local_engine


@pytest.fixture
def env():
    install_local_engine()
    environment = StreamExecutionEnvironment.get_execution_environment()
    environment.set_parallelism(1)
    return environment


def written(env, folder, function, kind=FileSink):
    builder = kind.for_row_format(str(folder), Encoder.simple_string_encoder())
    sink = builder.with_bucket_assigner(bucket_assigner(function)).build()
    stream = env.from_collection(["be 1", "to 2", "be 3", "4"], Types.STRING())
    stream.sink_to(sink) if kind is FileSink else stream.add_sink(sink)
    env.execute()
    return {
        str(file.parent.relative_to(folder)): file.read_text().splitlines()
        for file in folder.rglob("part-*")
    }


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", [FileSink, StreamingFileSink])
def test_an_element_names_its_folder(env, tmp_path, kind):
    found = written(env, tmp_path, lambda text: text.rpartition(" ")[0] and f"a/{text[:2]}", kind)
    assert found == {"a/be": ["be 1", "be 3"], "a/to": ["to 2"], ".": ["4"]}


@pytest.mark.parametrize("name", ["/tmp", "a/../../b", None, 3])
def test_a_folder_elsewhere_fails_the_job(env, tmp_path, name):
    with pytest.raises(JobExecutionError, match="a path below the sink's folder"):
        written(env, tmp_path, lambda _: name)
    assert not list(tmp_path.rglob("*part*"))


def test_what_is_no_function():
    with pytest.raises(TypeError, match="a function of an element"):
        bucket_assigner("folder")
