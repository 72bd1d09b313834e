"""How a host notices that the machine of another one is gone, though nobody has hung up."""

from __future__ import annotations

import sys

import pytest

from pyflink_on_spark._cluster.transport.data_plane import DataPlane, PeerLost
from pyflink_on_spark._cluster.transport.stream import Silence
from tests.cluster.connections import connected


def silence(looks):
    """Return the silence after looks, which are pairs of a time and what TCP says then."""
    found = Silence()
    return [found.look(unanswered, now) for now, unanswered in looks][-1]


def test_a_peer_that_answers_is_not_silent():
    assert silence((0.5 * n, 0.1) for n in range(200)) == 0


def test_a_peer_that_stops_to_answer_is_silent_from_then_on():
    looks = [(0.5 * n, 0.0) for n in range(20)] + [(10 + 0.5 * n, 0.5 * n) for n in range(20)]
    assert silence(looks) == pytest.approx(9, abs=1.1)


def test_what_is_sent_after_a_quiet_time_has_just_been_sent():
    """TCP says when the last answer came, however long ago the last question was."""
    quiet = [(0.5 * n, 0.0) for n in range(200)]
    assert silence([*quiet, (100, 100)]) <= 1


def test_a_function_that_took_long_is_no_silence_of_its_peer():
    """While it ran nobody looked, and then something was sent at once."""
    looks = [(0.5 * n, 0.01) for n in range(20)]
    assert silence([*looks, (110, 99.9)]) == 0
    assert silence([*looks, (110, 100.5)]) <= 2


@pytest.mark.parametrize("kind", ["sealed", "encrypted"])
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux's /proc")
def test_a_host_notices_that_another_one_is_silent(kind, monkeypatch):
    near, far = connected(kind)
    plane = DataPlane(lambda _: None)
    plane.connect({1: near}, {}, {})
    try:
        assert near.stream.unanswered() < 1  # all is acknowledged, or will be at once
        for seconds in range(30):
            plane.check(8.0, float(seconds))
        for seconds in range(30, 37):
            monkeypatch.setattr(type(near.stream), "unanswered", lambda _, s=seconds: s - 29.0)
            plane.check(8.0, float(seconds))
        monkeypatch.setattr(type(near.stream), "unanswered", lambda _: 8.0)
        with pytest.raises(PeerLost):
            plane.check(8.0, 37.0)
    finally:
        plane.close()
        far.close()
