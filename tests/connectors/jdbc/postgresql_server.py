"""A PostgreSQL for the tests."""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.connectors.servers import free_port, running, server_folder


@dataclass(frozen=True)
class Server:
    """A server that runs; ``owner`` may do anything.

    Args:
        port: where it listens, on 127.0.0.1.
    """

    port: int

    @property
    def url(self) -> str:
        """The URL of its database, for JDBC."""
        return f"jdbc:postgresql://127.0.0.1:{self.port}/postgres"

    def connect(self):
        """Return a psycopg connection that commits each statement."""
        import psycopg

        return psycopg.connect(
            host="127.0.0.1", port=self.port, user="owner", dbname="postgres", autocommit=True
        )


def _program(name: str) -> str | None:
    versions = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(versions[-1]) if versions else shutil.which(name)


@contextlib.contextmanager
def postgresql() -> Iterator[Server]:
    """Start a server; skips the test where there is none to start."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    initdb, postgres = _program("initdb"), _program("postgres")
    if initdb is None or postgres is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    with server_folder("postgres") as (folder, identity):
        data, port = folder / "data", free_port()
        subprocess.run(
            [initdb, "-D", data, "-U", "owner", "--auth=trust", "--no-sync", "-E", "UTF8"],
            check=True,
            capture_output=True,
            cwd=folder,
            **identity,
        )
        server = Server(port)
        command = [postgres, "-D", str(data), "-p", str(port), "-h", "127.0.0.1", "-k", str(folder)]
        command += ["-c", "fsync=off", "-c", "max_connections=30", "-c", "wal_level=logical"]
        # An interrupt does not wait for those who are connected still.
        options = {"stop": signal.SIGINT, "cwd": folder, **identity}
        with running(command, lambda: server.connect().close(), folder / "log", **options):
            yield server
