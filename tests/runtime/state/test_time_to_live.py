"""State that expires."""

from __future__ import annotations

import pytest

from tests.runtime.harness import FakeClock
from tests.runtime.state.backends import new_backend
from tests.runtime.state.descriptors import (
    Adding,
    Descriptor,
    Mean,
    Update,
    Visibility,
    ttl,
)

ON_READ = {"update": Update.OnReadAndWrite}
RETURNED = {"visibility": Visibility.ReturnExpiredIfNotCleanedUp}


class World:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.backend = new_backend(self.clock)
        self.backend.key = "a"

    def state(self, kind, function=None, **settings):
        descriptor = Descriptor(kind, "s", function, ttl(10, **settings))
        return getattr(self.backend, f"{kind}_state")(descriptor)

    def entries(self, kind):
        return dict(self.backend.table("s", kind).namespaces[None].items())


@pytest.fixture
def world():
    return World()


def test_value_expires(world):
    state = world.state("value")
    state.update(1)
    world.clock.time = 9
    assert state.value() == 1
    world.clock.time = 10
    assert state.value() is None
    assert world.entries("value") == {}


def test_writing_prolongs(world):
    state = world.state("value")
    state.update(1)
    world.clock.time = 9
    state.update(2)
    world.clock.time = 18
    assert state.value() == 2
    world.clock.time = 19
    assert state.value() is None


def test_reading_prolongs(world):
    state = world.state("value", **ON_READ)
    state.update(1)
    for world.clock.time in (9, 18, 27):
        assert state.value() == 1
    world.clock.time = 37
    assert state.value() is None


def test_disabled(world):
    state = world.state("value", update=Update.Disabled)
    state.update(1)
    world.clock.time = 1000
    assert state.value() == 1


def test_expired_value_is_returned_once(world):
    state = world.state("value", **RETURNED)
    state.update(1)
    world.clock.time = 10
    assert state.value() == 1
    assert state.value() is None


@pytest.mark.parametrize(
    ("kind", "function", "both"), [("reducing", Adding(), 3), ("aggregating", Mean(), 1.5)]
)
def test_aggregates_expire(world, kind, function, both):
    state = world.state(kind, function)
    state.add(1)
    state.add(2)
    world.clock.time = 9
    assert state.get() == both
    world.clock.time = 10
    assert state.get() is None
    state.add(5)
    assert state.get() == 5


def test_list_elements_expire_one_by_one(world):
    state = world.state("list")
    state.add(1)
    world.clock.time = 5
    state.add_all([2, 3])
    world.clock.time = 10
    assert list(state.get()) == [2, 3]
    assert len(world.entries("list")["a"]) == 2
    world.clock.time = 15
    assert list(state) == []
    assert world.entries("list") == {}


def test_list_reading_prolongs(world):
    state = world.state("list", **ON_READ)
    state.update([1])
    world.clock.time = 9
    assert list(state) == [1]
    world.clock.time = 18
    assert list(state) == [1]


def test_list_returns_expired(world):
    state = world.state("list", **RETURNED)
    state.add(1)
    world.clock.time = 5
    state.add(2)
    world.clock.time = 12
    assert list(state) == [1, 2]
    world.clock.time = 15
    assert list(state) == [1, 2]
    assert list(state) == []


def test_map_entries_expire_one_by_one(world):
    state = world.state("map")
    state.put("x", 1)
    world.clock.time = 5
    state.put_all([("y", 2)])
    world.clock.time = 10
    assert "x" not in state
    assert list(state.items()) == [("y", 2)]
    assert not state.is_empty()
    world.clock.time = 15
    assert state.is_empty()
    assert list(state.keys()) == []
    assert world.entries("map") == {}


def test_map_reading_prolongs_the_entry(world):
    state = world.state("map", **ON_READ)
    state.put_all([("x", 1), ("y", 2)])
    world.clock.time = 9
    assert state.get("x") == 1
    world.clock.time = 12
    assert list(state.items()) == [("x", 1)]
    world.clock.time = 21
    assert state["x"] == 1


def test_map_returns_expired_once(world):
    state = world.state("map", **RETURNED)
    state.put_all([("x", 1), ("y", 2)])
    world.clock.time = 10
    assert state.get("x") == 1
    assert state.get("x") is None
    assert list(state.items()) == [("y", 2)]
    assert list(state.items()) == []


def test_reading_an_expired_entry_is_no_modification(world):
    state = world.state("map")
    state.put("x", 1)
    items = state.items()
    world.clock.time = 10
    assert state.get("x") is None
    assert list(items) == [("x", 1)]


def test_map_iterator_removes(world):
    state = world.state("map")
    state.put_all([("x", 1), ("y", 2)])
    items = state.items()
    next(items)
    items.remove()
    assert list(items) == [("y", 2)]
    assert list(state.keys()) == ["y"]


def test_incremental_cleanup_on_access(world):
    state = world.state("value", incremental=(2, False))
    for world.backend.key in range(6):
        state.update(1)
    world.clock.time = 10
    world.backend.key = "new"
    for _ in range(8):
        state.update(2)
    assert set(world.entries("value")) == {"new"}


def test_incremental_cleanup_for_every_record(world):
    state = world.state("value", incremental=(2, True))
    for world.backend.key in range(6):
        state.update(1)
    world.clock.time = 10
    assert list(world.backend.observed(iter([("k", 1)] * 8))) == [("k", 1)] * 8
    assert world.entries("value") == {}


def test_without_cleanup_for_every_record_nothing_runs(world):
    world.state("value", incremental=(2, False))
    pairs = iter([("k", 1)])
    assert world.backend.observed(pairs) is pairs


@pytest.mark.parametrize("settings", [{"full_snapshot": True}, {"compaction": True}])
def test_snapshot_removes_what_has_expired(world, settings):
    state = world.state("list", **settings)
    state.add(1)
    world.backend.key = "b"
    state.add(1)
    world.clock.time = 9
    state.add(2)
    world.clock.time = 10
    world.backend.snapshot()
    assert world.entries("list") == {"b": [(9, 2)]}


def test_snapshot_without_cleanup_keeps_everything(world):
    world.state("value").update(1)
    world.clock.time = 10
    world.backend.snapshot()
    assert set(world.entries("value")) == {"a"}


@pytest.mark.parametrize(
    ("kind", "write", "read"),
    [
        ("value", lambda s: s.update(1), lambda s: s.value()),
        ("list", lambda s: s.add(1), list),
        ("map", lambda s: s.put("x", 1), lambda s: list(s.items())),
    ],
)
@pytest.mark.parametrize("before", [None, ttl(10)])
def test_time_to_live_comes_or_goes_with_a_restart(world, kind, write, read, before):
    after = ttl(10) if before is None else None
    state = getattr(world.backend, f"{kind}_state")(Descriptor(kind, "s", ttl=before))
    write(state)
    restored = World()
    restored.clock.time = 100
    restored.backend.restore(world.backend.snapshot().values())
    again = getattr(restored.backend, f"{kind}_state")(Descriptor(kind, "s", ttl=after))
    assert read(again) == read(state)
    restored.clock.time = 110
    assert bool(read(again)) == (after is None)
