"""A job's configuration says how S3 is reached; a web server needs nothing."""

from __future__ import annotations

import functools
import http.server
import threading

import pytest

from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark.common import Encoder, Types
from pyflink_on_spark.datastream.connectors.file_system import FileSink, FileSource, StreamFormat
from tests.connectors.files.test_file_sink_checkpoints import SinkJob
from tests.connectors.reading import readers_of
from tests.filesystem.conftest import BUCKET

LINES = StreamFormat.text_line_format()


@pytest.fixture
def configuration(aws, monkeypatch):
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    for variable in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "ENDPOINT_URL"):
        monkeypatch.delenv(f"AWS_{variable}", raising=False)
    return {
        "s3.access-key": "me",
        "s3.secret-key": "the secret",
        "s3.endpoint": aws.endpoint,
        "s3.path.style.access": "true",
        "s3.endpoint.region": "eu-central-1",
    }


def test_source_and_sink(configuration):
    uri = f"s3://{BUCKET}/configured"
    sink = FileSink.for_row_format(uri, Encoder.simple_string_encoder()).build()._sink
    sink = sink.with_input_type(Types.STRING()).with_configuration(configuration)
    job = SinkJob.__new__(SinkJob)
    job.saved, job.held, job.number, job.attempt, job.sink = None, [], 0, 0, sink
    job.clock, job.copied = type("Clock", (), {"now": lambda self: 0})(), False
    job.begin(1, new_process=False)
    job.write(["a", "b"])
    job.checkpoint()
    assert b"the secret" not in job.safe + job.saved
    source = FileSource.for_record_stream_format(LINES, uri).build()._source
    (reader,) = readers_of(source.with_configuration(configuration), 1)
    assert reader.poll().values == ["a", "b"]


def test_checkpoints(configuration):
    place = folder(f"s3://{BUCKET}/job/chk-1", configuration)
    place.beside("shared").write("x", b"1")
    assert place.beside("shared").read("x") == b"1"
    assert place.inside("y").names() == []


def test_a_key_is_shown_nowhere(configuration):
    configuration["s3.endpoint"] = "http://127.0.0.1:1"
    source = FileSource.for_record_stream_format(LINES, f"s3://{BUCKET}/x").build()._source
    source = source.with_configuration(configuration)
    assert "the secret" not in repr(source._places)


def test_files_of_a_web_server(tmp_path):
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    pytest.importorskip("aiohttp", reason="aiohttp is not installed")
    (tmp_path / "x.txt").write_text("a\nb\n")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    handler = functools.partial(Quiet, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        uri = f"http://127.0.0.1:{server.server_address[1]}/x.txt"
        source = FileSource.for_record_stream_format(LINES, uri).build()._source
        (reader,) = readers_of(source, 1)
        assert reader.poll().values == ["a", "b"]
        server.shutdown()
