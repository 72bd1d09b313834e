"""State and timers where there is no current key."""

from __future__ import annotations

import pytest

from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP
from pyflink_on_spark._runtime.state.backend import NO_KEY, KeyedStateBackend
from pyflink_on_spark._runtime.state.timers import BroadcastTimerService, KeyedTimerService, Timers
from tests.runtime.harness import FakeClock
from tests.runtime.state.descriptors import Adding, Descriptor


@pytest.mark.parametrize("use", [
    lambda backend: backend.value_state(Descriptor("value", "s")).value(),
    lambda backend: backend.value_state(Descriptor("value", "s")).update(1),
    lambda backend: list(backend.list_state(Descriptor("list", "s"))),
    lambda backend: backend.map_state(Descriptor("map", "s")).get(1),
    lambda backend: list(backend.map_state(Descriptor("map", "s")).items()),
    lambda backend: backend.reducing_state(Descriptor("reducing", "s", Adding())).add(1),
])  # fmt: skip
def test_state_without_a_key(use):
    backend = KeyedStateBackend(FakeClock())
    with pytest.raises(RuntimeError, match="No key set"):
        use(backend)


def test_maps_forget_what_is_put_before_there_is_a_key(caplog):
    backend = KeyedStateBackend(FakeClock(), track_changes=True)
    state = backend.map_state(Descriptor("map", "s"))
    state.put("a", 1)
    state.put_all({"b": 2}.items())
    assert (state.get("a"), state.get("b")) == (1, 2)
    state.remove("a")
    with pytest.raises(RuntimeError, match="No key set"):
        state.get("a")
    state.clear()
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    backend.key = "k"
    assert (state.is_empty(), state.get("b")) == (True, None)
    state.put("c", 3)
    assert list(state.items()) == [("c", 3)]


def test_elements_of_a_broadcast_stream_have_no_map():
    backend = KeyedStateBackend(FakeClock())
    backend.key = NO_KEY
    with pytest.raises(RuntimeError, match="No key set"):
        backend.map_state(Descriptor("map", "s")).put(1, 1)


def test_none_is_a_key():
    backend = KeyedStateBackend(FakeClock())
    backend.key = None
    state = backend.value_state(Descriptor("value", "s"))
    state.update(5)
    assert state.value() == 5


@pytest.mark.parametrize("call", [
    "register_event_time_timer", "register_processing_time_timer",
    "delete_event_time_timer", "delete_processing_time_timer",
])  # fmt: skip
def test_timers_without_a_key(call):
    service = BroadcastTimerService(Timers(FakeClock(7)))
    assert (service.current_processing_time(), service.current_watermark()) == (7, MIN_TIMESTAMP)
    with pytest.raises(RuntimeError, match="No key set"):
        getattr(service, call)(5)


@pytest.fixture
def timers():
    return Timers(FakeClock())


@pytest.fixture
def service(timers):
    backend = KeyedStateBackend(FakeClock())
    backend.key = "k"
    return KeyedTimerService(timers, backend)


@pytest.mark.parametrize(("time", "at"), [(5.7, 5), (-5.7, -5), (True, 1)])
def test_times_are_whole_numbers(service, timers, time, at):
    service.register_event_time_timer(time)
    service.register_processing_time_timer(time)
    assert list(timers.event) == list(timers.processing) == [(at, "k", None)]
    service.delete_event_time_timer(time)
    service.delete_processing_time_timer(time)
    assert list(timers.event) == list(timers.processing) == []


@pytest.mark.parametrize(("time", "error"), [
    ("5", TypeError), (None, TypeError), (b"5", TypeError), (2**63, OverflowError),
])  # fmt: skip
def test_what_is_no_time(service, time, error):
    with pytest.raises(error):
        service.register_event_time_timer(time)
    with pytest.raises(error):
        service.register_processing_time_timer(time)
