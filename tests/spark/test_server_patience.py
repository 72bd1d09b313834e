"""How long requests wait for a Spark Connect server that is not there."""

from __future__ import annotations

import socket
from types import SimpleNamespace

import pytest

pytest.importorskip("grpc", reason="needs pyflink_on_spark[connect]")
import grpc
from pyspark.sql.connect.client import SparkConnectClient
from pyspark.sql.connect.client.retries import Retrying

from pyflink_on_spark._spark.session.server_patience import (
    Patience,
    wait_at_most,
    wait_no_more,
    why_lost,
)


class NoServer(grpc.RpcError):
    def code(self):
        return grpc.StatusCode.UNAVAILABLE

    def trailing_metadata(self):
        return ()


class Clock:
    """A clock that only pauses move."""

    def __init__(self):
        self.time = 0.0

    def now(self):
        return self.time

    def sleep(self, seconds):
        self.time += seconds


def seconds_of_a_request(policy, clock):
    begun = clock.time
    with pytest.warns(UserWarning, match="RETRIES_EXCEEDED"), pytest.raises(NoServer):
        request(policy, clock, lambda: False)
    return clock.time - begun


def request(policy, clock, answers):
    """Makes a request until it is answered; returns when it was tried."""
    tries = []
    for attempt in Retrying([policy], sleep=clock.sleep):
        with attempt:
            tries.append(clock.time)
            if not answers():
                raise NoServer
    return tries


@pytest.mark.parametrize("timeout_ms", [0, 300, 10_000])
def test_a_request_waits_as_long_as_was_said_and_the_next_ones_do_not(timeout_ms):
    clock = Clock()
    policy = Patience(timeout_ms, clock.now)
    assert seconds_of_a_request(policy, clock) == pytest.approx(timeout_ms / 1000, abs=0.01)
    assert seconds_of_a_request(policy, clock) == 0


def test_a_server_that_is_back_in_time_is_waited_for():
    clock = Clock()
    tries = request(Patience(10_000, clock.now), clock, lambda: clock.time >= 5)
    assert 5 <= tries[-1] <= 6


@pytest.mark.filterwarnings("ignore:.RETRIES_EXCEEDED")
def test_a_session_whose_server_is_gone_says_so():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    client = SparkConnectClient(f"sc://127.0.0.1:{port}", use_reattachable_execute=False)
    session = SimpleNamespace(client=client)
    wait_at_most(session, 200)
    errors = []
    for limit in (lambda: None, lambda: wait_no_more(session)):
        limit()
        with pytest.raises(Exception, match="failed to connect") as failed:
            client.get_configs("spark.master")
        errors.append(why_lost(session, failed.value))
    client.close()
    assert errors == ["the Spark Connect server on 127.0.0.1 does not answer any more"] * 2
    assert why_lost(session, ValueError("of the user")) is None
