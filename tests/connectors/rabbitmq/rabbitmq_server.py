"""A RabbitMQ for the tests."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.connectors.servers import free_port, running, server_folder

_PROGRAM = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")


@contextlib.contextmanager
def rabbitmq() -> Iterator[int]:
    """Start a broker and yield its port; skips the test where there is none to start."""
    pika = pytest.importorskip("pika", reason="pika is not installed")
    epmd = shutil.which("epmd")
    if not _PROGRAM.exists() or epmd is None:
        pytest.skip("RabbitMQ is not installed (Debian: apt-get install rabbitmq-server)")
    with server_folder("rabbitmq") as (folder, identity):
        port, names = free_port(), str(free_port())
        environment = {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "HOME": str(folder),
            "RABBITMQ_NODENAME": f"test{port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(port),
            "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(folder / "log"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "enabled_plugins"),
            "RABBITMQ_CONFIG_FILE": str(folder / "none"),
            "RABBITMQ_PID_FILE": str(folder / "pid"),
            "ERL_EPMD_PORT": names,
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-start_epmd false +S 1:1",
        }
        options = {"cwd": folder, "env": environment, **identity}

        def ready() -> None:
            pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", port)).close()

        with (
            running([epmd, "-port", names], lambda: None, folder / "names", **options),
            running([str(_PROGRAM)], ready, folder / "broker", 180, **options),
        ):
            yield port
