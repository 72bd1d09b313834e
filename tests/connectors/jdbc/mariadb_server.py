"""A MariaDB for the tests."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.connectors.servers import free_port, running, server_folder


@dataclass(frozen=True)
class Server:
    """A server that runs; ``root`` may do anything.

    Args:
        port: where it listens, on 127.0.0.1.
    """

    port: int

    @property
    def url(self) -> str:
        """The URL of its database, for JDBC."""
        return f"jdbc:mysql://127.0.0.1:{self.port}/test"

    def connect(self, database=None):
        """Return a PyMySQL connection that commits each statement."""
        import pymysql

        return pymysql.connect(
            host="127.0.0.1", port=self.port, user="root", database=database, autocommit=True
        )


@contextlib.contextmanager
def mariadb() -> Iterator[Server]:
    """Start a server; skips the test where there is none to start."""
    pytest.importorskip("pymysql", reason="PyMySQL is not installed")
    path = "/usr/sbin:/usr/bin"
    install, server = (shutil.which(name, path=path) for name in ("mariadb-install-db", "mariadbd"))
    if install is None or server is None:
        pytest.skip("MariaDB is not installed (Debian: apt-get install mariadb-server)")
    with server_folder("mysql") as (folder, identity):
        options = {"cwd": folder, **identity}
        data = f"--datadir={folder / 'data'}"
        subprocess.run(
            [install, "--no-defaults", data, "--auth-root-authentication-method=normal"],
            check=True,
            capture_output=True,
            **options,
        )
        found = Server(free_port())
        arguments = [f"--port={found.port}", f"--socket={folder / 'socket'}", f"--tmpdir={folder}"]
        arguments += ["--bind-address=127.0.0.1", "--skip-name-resolve"]
        # Changes are read from the log of a server whose name is a number.
        arguments += ["--log-bin", "--binlog-format=ROW", "--server-id=1"]
        with running(
            [server, "--no-defaults", data, *arguments],
            lambda: found.connect().close(),
            folder / "log",
            180,
            **options,
        ):
            yield found
