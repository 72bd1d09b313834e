"""One line when a server is lost, one when it is back."""

from __future__ import annotations

import re
import time

import pytest

from pyflink_on_spark._connectors.reachability import Reachability


@pytest.fixture
def lines(caplog):
    return lambda: [record.getMessage() for record in caplog.records]


class Clock:
    now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_one_line_for_the_loss_and_one_for_the_return(lines, clock):
    one = Reachability("Kafka at a:1", clock=clock)
    for _ in range(3):
        one.lost("refused")
    clock.now += 35
    one.found()
    one.found()
    lost, found = lines()
    assert re.fullmatch(r"waiting for Kafka at a:1 since [\d-]{10} [\d:]{8}: refused", lost)
    assert found == "Kafka at a:1 is reachable again after 35 s"


def test_clients_of_one_server_share_the_lines(lines, clock):
    first, second = (Reachability("Kafka at a:1", clock=clock) for _ in range(2))
    first.lost("refused")
    second.lost("refused")
    first.found()
    assert len(lines()) == 1
    second.found()
    assert len(lines()) == 2


def test_a_client_that_is_closed_waits_for_nothing(lines, clock):
    first, second = (Reachability("Kafka at a:1", clock=clock) for _ in range(2))
    first.lost("refused")
    second.lost("refused")
    second.close()
    first.found()
    assert len(lines()) == 2
    first.lost("refused")
    first.close()
    assert len(lines()) == 3


def test_servers_do_not_share_lines(lines, clock):
    one, other = (Reachability(f"Kafka at {server}", clock=clock) for server in "ab")
    one.lost("refused")
    other.lost("refused")
    one.found()
    assert len(lines()) == 3
    other.close()


def test_a_short_loss_is_not_logged_with_patience(lines, clock):
    one = Reachability("the stream 's'", patience=10, clock=clock)
    one.lost("throttled")
    clock.now += 9
    one.lost("throttled")
    one.found()
    assert lines() == []
    one.lost("throttled")
    for _ in range(3):
        clock.now += 10
        one.lost("throttled")
    one.found()
    assert [line.partition(" since ")[0] for line in lines()] == [
        "waiting for the stream 's'",
        "the stream 's' is reachable again after 30 s",
    ]


def test_a_clock_that_is_set_back_does_not_hide_a_loss(lines, monkeypatch):
    machine = iter((9_000.0, 9_040.0 - 3_600, 9_075.0 - 3_600))
    monkeypatch.setattr("time.time", lambda: next(machine, 5_475.0))
    steady = iter((100.0, 140.0, 175.0))
    monkeypatch.setattr("time.monotonic", lambda: next(steady))
    one = Reachability("Kafka at a:1", patience=30, clock=time.monotonic)
    one.lost("refused")
    one.lost("refused")
    one.found()
    assert [line.partition(" since ")[0] for line in lines()] == [
        "waiting for Kafka at a:1",
        "Kafka at a:1 is reachable again after 75 s",
    ]
