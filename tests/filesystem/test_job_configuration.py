"""Jobs whose configuration says how S3 is reached."""

from __future__ import annotations

import pytest

from pyflink_on_spark.common import Configuration, Encoder, Types, WatermarkStrategy
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.file_system import FileSink, FileSource, StreamFormat
from pyflink_on_spark.datastream.connectors.hybrid_source import HybridSource
from tests.connectors.kinesis.moto_server import REGION
from tests.filesystem.conftest import BUCKET


@pytest.fixture
def env(aws, monkeypatch, local_engine):
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    for variable in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "ENDPOINT_URL"):
        monkeypatch.delenv(f"AWS_{variable}", raising=False)
    configuration = Configuration()
    for key, value in {
        "s3.access-key": "me",
        "s3.secret-key": "the secret",
        "s3.endpoint": aws.endpoint,
        "s3.endpoint.region": REGION,
        "s3.path.style.access": "true",
    }.items():
        configuration.set_string(key, value)
    return StreamExecutionEnvironment.get_execution_environment(configuration)


def test_a_job_writes_and_another_reads_it(env):
    uri = f"s3://{BUCKET}/job-configuration"
    sink = FileSink.for_row_format(uri, Encoder.simple_string_encoder()).build()
    env.from_collection(["a", "b"], Types.STRING()).sink_to(sink)
    env.execute()
    assert sorted(env.read_text_file(uri).execute_and_collect()) == ["a", "b"]
    lines = StreamFormat.text_line_format()
    source = FileSource.for_record_stream_format(lines, uri).build()
    chain = HybridSource.builder(source).add_source(source).build()
    stream = env.from_source(chain, WatermarkStrategy.no_watermarks(), "twice")
    assert sorted(stream.execute_and_collect()) == ["a", "a", "b", "b"]
