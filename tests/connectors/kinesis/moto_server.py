"""A server of moto that stands for AWS."""

from __future__ import annotations

import contextlib
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.connectors.servers import free_port, running

REGION = "eu-central-1"


class Aws:
    """Where the server is, and clients of it.

    Args:
        port: the server's.
    """

    def __init__(self, port: int) -> None:
        self.endpoint = f"http://127.0.0.1:{port}"
        self.properties = {
            "aws.region": REGION,
            "aws.endpoint": self.endpoint,
            "aws.credentials.provider.basic.accesskeyid": "me",
            "aws.credentials.provider.basic.secretkey": "secret",
        }

    def client(self, service):
        """Return a client of boto3's."""
        import boto3

        return boto3.client(
            service,
            region_name=REGION,
            endpoint_url=self.endpoint,
            aws_access_key_id="me",
            aws_secret_access_key="secret",
        )


@contextlib.contextmanager
def moto() -> Iterator[Aws]:
    """Start a server; skips the test where there is none to start."""
    pytest.importorskip("boto3", reason="boto3 is not installed")
    pytest.importorskip("moto.server", reason="moto's server is not installed")
    port = free_port()

    def ready() -> None:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/moto-api/", timeout=5).close()

    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with (
        tempfile.TemporaryDirectory() as folder,
        running(command, ready, Path(folder) / "log"),
    ):
        yield Aws(port)
