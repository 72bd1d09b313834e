"""A server of FTP."""

from __future__ import annotations

import contextlib
import ftplib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.connectors.servers import free_port, running

USER, PASSWORD = "me", "open sesame"


@contextlib.contextmanager
def ftp_server() -> Iterator[str]:
    """Start a server and yield its URI; skips the test where there is none to start."""
    pytest.importorskip("pyftpdlib", reason="pyftpdlib is not installed")
    port = free_port()

    def ready() -> None:
        with ftplib.FTP(timeout=5) as client:
            client.connect("127.0.0.1", port)
            client.login(USER, PASSWORD)

    with tempfile.TemporaryDirectory() as folder:
        served = Path(folder) / "served"
        served.mkdir()
        command = [sys.executable, "-m", "pyftpdlib", "-i", "127.0.0.1", "-p", str(port), "-w"]
        command += ["-d", str(served), "-u", USER, "-P", PASSWORD]
        with running(command, ready, Path(folder) / "log"):
            yield f"ftp://{USER}:open%20sesame@127.0.0.1:{port}"
