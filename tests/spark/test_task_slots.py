"""How many hosts a job has, and how long it waits for the executors that run them; no Spark."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from pyflink_on_spark._spark.session import task_slots as module
from pyflink_on_spark._spark.session.task_slots import await_slots, has_room, hosts_for

MASTER = "spark://host:7077"


@dataclass
class World:
    """A time that passes while somebody waits, and the task slots from each moment on."""

    slots: dict[float, int]
    time: float = 0.0
    waits: list[float] = field(default_factory=list)

    def count(self):
        return self.slots[max(moment for moment in self.slots if moment <= self.time)]

    def pause(self, seconds):
        self.time = round(self.time + seconds, 3)

    def await_slots(self, wanted, seconds, steady=None, interrupt=lambda: None):
        await_slots(
            self.count, wanted, seconds, interrupt, steady, now=lambda: self.time, pause=self.pause
        )
        return self.time


def test_enough_slots_are_not_awaited():
    assert World({0: 4}).await_slots(4, 30) == 0


def test_executors_that_come_one_by_one_are_awaited():
    assert World({0: 0, 3: 2, 4: 4}).await_slots(4, 30, steady=2) == pytest.approx(4)


def test_a_cluster_that_is_too_small_is_not_awaited_for_long():
    assert World({0: 0, 3: 2}).await_slots(8, 30, steady=2) == pytest.approx(5, abs=0.2)


def test_the_first_executor_is_awaited_for_the_whole_time():
    assert World({0: 0}).await_slots(8, 30, steady=2) == pytest.approx(30, abs=0.2)


def test_an_executor_that_comes_back_is_awaited():
    assert World({0: 2, 5: 4}).await_slots(3, 10) == pytest.approx(5)
    assert World({0: 2, 50: 4}).await_slots(3, 10) == pytest.approx(10, abs=0.2)


def test_a_cancelled_job_does_not_wait():
    world = World({0: 0})

    def interrupt():
        if world.time >= 1:
            raise KeyError

    with pytest.raises(KeyError):
        world.await_slots(8, 30, interrupt=interrupt)
    assert world.time == pytest.approx(1)


@pytest.fixture(autouse=True)
def settings(monkeypatch):
    """The settings of Spark."""
    settings = {}
    monkeypatch.setattr(module, "application_settings", lambda _context: settings)
    return settings


def session(running=0, master=MASTER):
    stages = {7: SimpleNamespace(numActiveTasks=running), 8: None}
    tracker = SimpleNamespace(getActiveStageIds=lambda: list(stages), getStageInfo=stages.get)
    context = SimpleNamespace(
        master=master,
        startTime=0,
        statusTracker=lambda: tracker,
        defaultParallelism=100,  # what a program sets has nothing to do with the slots
    )
    return SimpleNamespace(sparkContext=context)


@pytest.fixture
def slots(monkeypatch):
    """Sets how many task slots Spark has."""

    def set_slots(count):
        monkeypatch.setattr(module, "task_slots", lambda _session: count)

    return set_slots


@pytest.mark.parametrize(
    ("total", "running", "hosts"), [(4, 0, 3), (4, 2, 1), (4, 4, 1), (100, 0, 8), (0, 0, 1)]
)
def test_one_free_slot_of_a_cluster_is_left_to_others(total, running, hosts, slots):
    slots(total)
    assert hosts_for(session(running), 8, {}) == hosts


@pytest.fixture
def waits(monkeypatch):
    """Notes for how many slots a job waits, and for how many seconds."""
    waits = []
    monkeypatch.setattr(module.time, "time", lambda: 10.0)
    monkeypatch.setattr(module, "await_slots", lambda *args: waits.append(args[1:3]))
    return waits


def test_a_job_in_a_young_application_waits_for_executors(slots, waits):
    slots(0)
    hosts_for(session(), 8, {})
    hosts_for(session(), 8, {}, before=2)
    assert waits == [(9, 20.0), (3, 10.0)]


def test_executors_that_come_for_tasks_only_are_not_awaited(slots, waits, settings):
    slots(0)
    settings["spark.dynamicAllocation.enabled"] = "true"
    hosts_for(session(), 8, {})
    assert waits == []


def test_hosts_that_do_not_fit_any_more_are_noticed(slots):
    slots(2)
    assert has_room(session(), 2, {})
    assert not has_room(session(), 3, {})
    assert has_room(session(), 3, {"pyflink-on-spark.hosts": "3"})
    assert has_room(session(master="local[2]"), 3, {})


def test_a_job_that_has_no_slot_yet_waits_for_one(slots):
    slots(0)
    assert has_room(session(), 1, {})
