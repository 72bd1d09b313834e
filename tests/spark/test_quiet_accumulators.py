"""The output of PySpark's server of accumulators when a connection to it fails."""

from __future__ import annotations

import socket
import socketserver
import threading
from types import SimpleNamespace

import pytest

from pyflink_on_spark._spark.session.session import quiet_accumulators


class Refuses(socketserver.StreamRequestHandler):
    """Wants a token of four bytes."""

    def handle(self):
        if self.rfile.read(4) != b"good":
            raise ValueError("the token is not correct")


@pytest.fixture
def server():
    with socketserver.TCPServer(("127.0.0.1", 0), Refuses) as server:
        quiet_accumulators(SimpleNamespace(_accumulatorServer=server))
        yield server


def call(server, token, *, hangs_up):
    with socket.create_connection(server.server_address) as connection:
        connection.sendall(token)
        if hangs_up:
            connection.shutdown(socket.SHUT_WR)
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        thread.join()


def test_a_connection_that_is_closed_before_its_token_prints_nothing(server, capsys):
    call(server, b"", hangs_up=True)
    assert capsys.readouterr().err == ""


def test_a_wrong_token_is_still_told(server, capsys):
    call(server, b"evil", hangs_up=False)
    assert "the token is not correct" in capsys.readouterr().err


def test_without_a_server_there_is_nothing_to_do():
    quiet_accumulators(SimpleNamespace())
