"""A server of moto that stands for AWS."""

from __future__ import annotations

import itertools
import sys
import urllib.request

import pytest

from tests.connectors.servers import free_port, running

_NUMBERS = itertools.count()


class Aws:
    """Where the server is, and clients of it.

    Args:
        port: the server's.
    """

    def __init__(self, port: int) -> None:
        self.properties = {
            "aws.region": "eu-central-1",
            "aws.endpoint": f"http://127.0.0.1:{port}",
            "aws.credentials.provider.basic.accesskeyid": "me",
            "aws.credentials.provider.basic.secretkey": "secret",
        }

    def client(self, service):
        import boto3

        return boto3.client(
            service,
            region_name="eu-central-1",
            endpoint_url=self.properties["aws.endpoint"],
            aws_access_key_id="me",
            aws_secret_access_key="secret",
        )


@pytest.fixture(scope="session")
def aws(tmp_path_factory):
    pytest.importorskip("boto3", reason="boto3 is not installed")
    pytest.importorskip("moto.server", reason="moto's server is not installed")
    port = free_port()

    def ready():
        urllib.request.urlopen(f"http://127.0.0.1:{port}/moto-api/", timeout=5).close()

    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with running(command, ready, tmp_path_factory.mktemp("moto") / "log"):
        yield Aws(port)


@pytest.fixture
def kinesis(aws):
    return aws.client("kinesis")


@pytest.fixture
def stream(kinesis):
    """The name of a stream of two shards."""
    name = f"stream{next(_NUMBERS)}"
    kinesis.create_stream(StreamName=name, ShardCount=2)
    kinesis.get_waiter("stream_exists").wait(StreamName=name)
    return name
