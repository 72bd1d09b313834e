"""Starts a server of SFTP."""

from __future__ import annotations

import contextlib
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.connectors.servers import free_port, running

USER, PASSWORD = "me", "open sesame"


@contextlib.contextmanager
def sftp_server() -> Iterator[str]:
    """Start a server and yield the URI of a folder; skips the test where there is none to start."""
    pytest.importorskip("paramiko", reason="paramiko is not installed")
    port = free_port()

    def ready() -> None:
        with socket.create_connection(("127.0.0.1", port), 5) as called:
            assert called.recv(4) == b"SSH-"

    with tempfile.TemporaryDirectory() as folder:
        served = Path(folder) / "served"
        served.mkdir()
        module = "tests.filesystem.sftp_files"
        command = [sys.executable, "-m", module, str(port), USER, PASSWORD]
        with running(command, ready, Path(folder) / "log"):
            yield f"sftp://{USER}:open%20sesame@127.0.0.1:{port}{served}"
