"""The end of a host's Spark task that does not find the driver; without Spark."""

from __future__ import annotations

import errno
import socket
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from pyflink_on_spark._cluster.transport import handshake
from pyflink_on_spark._cluster.transport.handshake import Address, HostLost, Listener
from pyflink_on_spark._spark.hosts.streaming_job import HostTask
from tests.cluster.connections import HERE

ENVIRONMENT = SimpleNamespace(active=nullcontext)


def run(address):
    HostTask(address, ENVIRONMENT)([0])


def test_a_task_that_comes_after_the_end_of_its_attempt_ends():
    listener = Listener(HERE, b"secret", lambda _: None, "hosts")
    listener.close()
    run(listener.address)


def test_a_task_that_calls_while_the_attempt_ends_ends(monkeypatch):
    call = socket.create_connection
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang_up(*args):
            called = call(*args)
            server.accept()[0].close()
            return called

        monkeypatch.setattr(handshake.socket, "create_connection", hang_up)
        run(Address("127.0.0.1", server.getsockname()[1], b"secret"))


def test_a_task_whose_port_belongs_to_another_attempt_ends():
    listener = Listener(HERE, b"secret", lambda _: None, "hosts")
    run(Address("127.0.0.1", listener.address.port, b"another secret"))
    listener.close()


@pytest.mark.parametrize(
    "error", [TimeoutError("timed out"), OSError(errno.EHOSTUNREACH, "No route to host")]
)
def test_a_task_that_cannot_reach_the_driver_fails(error, monkeypatch):
    def fail(*_):
        raise error

    monkeypatch.setattr(handshake.socket, "create_connection", fail)
    with pytest.raises(HostLost, match="the driver cannot be reached"):
        run(Address("192.0.2.1", 1, b"secret"))
