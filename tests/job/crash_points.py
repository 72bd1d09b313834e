"""Faults of processes at steps: the table that tests and documentation share.

``CASES`` has a life of a job for each step, ``FAULTS`` all that can happen there. ``excluded``
says why a fault cannot happen at a step. All other pairs are *cells*, which ``run`` runs. The
tests run a part of them, and all of them if the environment variable CRASH_POINTS is ``all``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pyflink_on_spark
from tests.effort import TRIES_ALL
from tests.job.simulated_driver import Driver, after_a_checkpoint, run_to_the_end
from tests.job.simulated_hosts import failure
from tests.job.simulated_world import FullDisk, World

PACKAGE = Path(pyflink_on_spark.__file__).parent
WITHOUT_CHECKPOINTS = {"execution.checkpointing.interval": "unset"}
IN_MEMORY = {"execution.checkpointing.dir": "unset"}
NOT_KEPT = {
    "execution.checkpointing.externalized-checkpoint-retention": "DELETE_ON_CANCELLATION",
}
IN_HOSTS = "host: "
"""The prefix of steps that only hosts in processes of their own have: tests/spark."""
IN_QUERIES = "query: "
"""The prefix of steps that only queries of Structured Streaming have: tests/structured."""
MINUTE = 60_000
_WHILE = 600
_MUCH = 80
_EVERY = {"files": 7, "long files": 9, "kafka": 9, "to_spark": 9, "rabbitmq": 9}
"""One of so many cells is in each run of the tests of an output."""

Scenario = Callable[[World], Driver]
Strike = Callable[[World], None]


def undisturbed(world: World) -> Driver:
    """A job from its beginning to its end."""
    return run_to_the_end(world, Driver(world, 0))


def restored(world: World) -> Driver:
    """One that is killed, and restored with another parallelism."""
    plans, world.plans = world.plans, []
    world.plan("checkpoint: it is committed", 2, World.kill)
    driver = Driver(world, 0)
    while not driver.dead:
        driver.act()
    world.plans = plans
    return run_to_the_end(world, Driver(world, 1, world.newest_checkpoint(), 3, 1))


def continued(world: World) -> Driver:
    """One that only seems to be dead, and is restored with another parallelism."""
    driver = Driver(world, 0)
    while driver.state == "starts" or driver.coordinator.last_checkpoint != 2:
        world.clock.time += 20
        driver.act()
    Driver(world, 1, world.newest_checkpoint(), 3, 1)
    return run_to_the_end(world, driver)


def saved(world: World) -> Driver:
    """One with a savepoint while it runs."""
    driver = after_a_checkpoint(world)
    driver.save()
    return run_to_the_end(world, driver)


def stopped(world: World, drain: bool = False) -> Driver:
    """One that stops with a savepoint, and continues from there unless all input was read."""
    driver = after_a_checkpoint(world)
    driver.stop(drain)
    driver = run_to_the_end(world, driver)
    # Another one that could not take the job over may have been started after it.
    ended = any(each.state == "is done" for each in world.drivers)
    if len(world.lines()) < world.elements and ended:
        driver = run_to_the_end(world, Driver(world, 9, world.newest_checkpoint()))
    return driver


def drained(world: World) -> Driver:
    """One that stops with a savepoint after it has drained."""
    return stopped(world, drain=True)


def cancelled(world: World) -> Driver:
    """One that is cancelled, and so loses its checkpoints."""
    driver = after_a_checkpoint(world)
    driver.cancel()
    return run_to_the_end(world, driver) if len(world.drivers) > 1 else driver


@dataclass(frozen=True)
class Case:
    """A life of a job in which a step is done.

    Args:
        scenario: the life.
        settings: of the job.
        in_host: whether a host does the step.
        no_hosts: whether there are no hosts when the step is done.
    """

    scenario: Scenario
    settings: Mapping[str, str] = field(default_factory=dict)
    in_host: bool = False
    no_hosts: bool = False


CASES = {
    "attempt: the last checkpoint is committed": Case(restored, no_hosts=True),
    "checkpoint: it begins": Case(undisturbed),
    "checkpoint: it is committed": Case(undisturbed),
    "checkpoint: it is complete": Case(undisturbed),
    "checkpoint: older ones are removed": Case(undisturbed),
    "checkpoint: the committables are written": Case(undisturbed),
    "checkpoint: the hosts are notified": Case(undisturbed),
    "checkpoint: the hosts have taken it": Case(undisturbed, IN_MEMORY),
    "checkpoint: the hosts have written it": Case(undisturbed),
    "commit: a sink has committed": Case(undisturbed),
    "drain: all input is processed": Case(drained),
    "drain: the sources end": Case(drained),
    "early end: it is known what stays": Case(cancelled, NOT_KEPT, no_hosts=True),
    "early end: the checkpoints are removed": Case(cancelled, NOT_KEPT, no_hosts=True),
    "end without checkpoints: it is committed": Case(undisturbed, WITHOUT_CHECKPOINTS),
    "end without checkpoints: sinks have prepared": Case(undisturbed, WITHOUT_CHECKPOINTS),
    "end: the checkpoints are not needed any more": Case(undisturbed, no_hosts=True),
    "end: the checkpoints are removed": Case(undisturbed, no_hosts=True),
    "restore: the checkpoint is read": Case(restored, no_hosts=True),
    "restore: the checkpoint is taken over": Case(restored, no_hosts=True),
    "savepoint: it begins": Case(stopped),
    "savepoint: it is committed": Case(stopped),
    "savepoint: it is complete": Case(stopped),
    "savepoint: the hosts are notified": Case(stopped),
    "savepoint: what it needs is kept": Case(saved),
    "state: a subtask gives it": Case(undisturbed, in_host=True),
    "state: the file is complete": Case(undisturbed, in_host=True),
    "state: the frames of committables are stored": Case(undisturbed, in_host=True),
}


WITHOUT: dict[str, dict[str, str]] = {
    "files": {},
    "long files": {},
    "kafka": {},
    "to_spark": {
        "state: the frames of committables are stored": "its rows are in the staging folder",
    },
    "rabbitmq": {
        "end without checkpoints: it is committed": "its source has no end",
        "end without checkpoints: sinks have prepared": "its source has no end",
    },
}
"""For each output, and for the source of RabbitMQ, the steps that are not done, and why."""


def steps() -> list[str]:
    """Return the names of all steps in the code, as often as each is there."""
    names = []
    texts = (path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    for text in (text for text in texts if "step(" in text):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "step":
                (name,) = node.args
                assert isinstance(name, ast.Constant)
                names.append(name.value)
    return names


def own_steps() -> list[str]:
    """Return the names of the steps that only hosts of their own processes have."""
    return [name for name in steps() if name.startswith(IN_HOSTS)]


# -- what happens ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fault:
    """A fault of a process.

    Args:
        process: driver, host, or executor: all hosts of a machine.
        kind: kill, error, hang, or full disk.
        how: more about it.
        strike: lets it happen.
        nth: the how-manieth time that the step is done.
        beside: whether another driver starts from the newest checkpoint meanwhile.
        machines: how many hosts there are.
        settings: of the job.
        scenario: the life of the job, if it is not that of the step.
    """

    process: str
    kind: str
    how: str
    strike: Strike
    nth: int = 1
    beside: bool = False
    machines: int = 2
    settings: Mapping[str, str] = field(default_factory=dict)
    scenario: Scenario | None = None

    def __str__(self) -> str:
        return f"{self.process}, {self.kind}{self.how and ', '}{self.how}"


def _hang(
    world: World, *, hosts_end: bool = False, beside: Callable[[Driver], None] | None = None
) -> None:
    """Let the driver hang for a minute; another one may start from the newest checkpoint."""
    hung, hosts = world.acting, world.hosts
    assert hung is not None
    world.note("the driver hangs")
    world.clock.time += MINUTE
    if beside is not None:
        beside(Driver(world, hung.number + 1, _newest(world)))
    world.note("the driver wakes up")
    hosts = hosts or hung.hosts
    if hosts_end and hosts is not None:
        hosts.kill(*hosts.all)


def _newest(world: World) -> Path | None:
    """Return the start of another driver: a savepoint only once its job has stopped with it."""
    driver = world.acting
    assert driver is not None
    over = driver.state != "starts" and driver.coordinator.over
    return world.newest_checkpoint(savepoints=over)


def _hang_beside_older(world: World, older: Callable[[Driver], None]) -> None:
    """Let the driver hang, while the one that it replaces continues."""
    world.note("the driver hangs")
    world.clock.time += MINUTE
    older(world.drivers[0])
    world.note("the driver wakes up")


def _begins(driver: Driver) -> None:
    while not driver.ended and driver.hosts is None:
        driver.act()
    driver.lose_host()  # so that it needs again what it began with


def _takes_a_checkpoint(driver: Driver) -> None:
    before = None if driver.state == "starts" else driver.coordinator.last_checkpoint
    while not driver.ended and (
        driver.state == "starts"
        or not driver.coordinator.resumable
        or driver.coordinator.last_checkpoint == before
    ):
        driver.world.clock.time += 20
        driver.act()


def _ends(driver: Driver) -> None:
    """Let a driver live to its end; one whose source has no end does much of the work."""
    for _ in range(_MUCH):
        driver.world.clock.time += 20
        driver.act()


def _victims(world: World, machine: bool) -> tuple[int, ...]:
    """Return the host that acts, or any, or those of its machine."""
    assert world.acting is not None
    hosts = world.hosts or world.acting.hosts
    assert hosts is not None
    if machine:
        return tuple(hosts.machine)
    return (0 if world.host is None else world.host,)


def _kill_hosts(world: World, machine: bool = False) -> None:
    assert world.acting is not None
    hosts = world.hosts or world.acting.hosts
    assert hosts is not None
    victims = _victims(world, machine)
    world.note(f"hosts {victims} are killed")
    if machine:
        world.acting.count = 1  # what is left has room for one
    hosts.kill(*victims)


def _hang_hosts(world: World, machine: bool = False, patient: bool = False) -> None:
    assert world.acting is not None
    hosts = world.hosts or world.acting.hosts
    assert hosts is not None
    victims = _victims(world, machine)
    world.note(f"hosts {victims} hang")
    world.clock.time += MINUTE if patient else 0
    hosts.hang(*victims, patient=patient)


def _fail_host(world: World) -> None:
    assert world.acting is not None
    hosts = world.hosts or world.acting.hosts
    assert hosts is not None
    world.note("a host fails")
    hosts.fail(*_victims(world, machine=False), failure())


def _fill_disk(world: World, process: str, once: bool) -> None:
    whose = {None} if process == "driver" else set(_victims(world, process == "executor"))
    world.note(f"the disk of the {process} is full")
    if once:
        world.full = FullDisk(changes=1, whose=frozenset(whose))
    else:
        world.full = FullDisk(until=world.clock.time + _WHILE, whose=frozenset(whose))


def _full(process: str, *, once: bool) -> Strike:
    return partial(_fill_disk, process=process, once=once)


TOLERANT = {"execution.checkpointing.tolerable-failed-checkpoints": "3"}
FAULTS = (
    Fault("driver", "kill", "", World.kill),
    Fault("driver", "kill", "the third time", World.kill, nth=3),
    Fault("driver", "error", "", World.fail),
    Fault("driver", "hang", "with its hosts", _hang),
    Fault("driver", "hang", "hosts end", partial(_hang, hosts_end=True)),
    Fault("driver", "hang", "another one begins", partial(_hang, beside=_begins), beside=True),
    Fault(
        "driver", "hang", "another one takes a checkpoint",
        partial(_hang, beside=_takes_a_checkpoint), beside=True,
    ),
    Fault("driver", "hang", "another one ends", partial(_hang, beside=_ends), beside=True),
    Fault(
        "driver", "hang", "the older one takes a checkpoint",
        partial(_hang_beside_older, older=_takes_a_checkpoint), scenario=continued,
    ),
    Fault(
        "driver", "hang", "the older one ends",
        partial(_hang_beside_older, older=_ends), scenario=continued,
    ),
    Fault("driver", "full disk", "once", _full("driver", once=True)),
    Fault("driver", "full disk", "for a while", _full("driver", once=False)),
    Fault("host", "kill", "", _kill_hosts),
    Fault("host", "error", "", _fail_host),
    Fault("host", "hang", "and is lost", _hang_hosts),
    Fault("host", "hang", "and continues", partial(_hang_hosts, patient=True), settings=TOLERANT),
    Fault("host", "full disk", "once", _full("host", once=True)),
    Fault("host", "full disk", "for a while", _full("host", once=False)),
    Fault("executor", "kill", "", partial(_kill_hosts, machine=True), machines=3),
    Fault("executor", "hang", "", partial(_hang_hosts, machine=True), machines=3),
    Fault("executor", "full disk", "for a while", _full("executor", once=False), machines=3),
)  # fmt: skip


_ERROR = next(n for n, fault in enumerate(FAULTS) if fault.kind == "error")


_DONE_ONCE = ("attempt:", "drain:", "early end:", "end", "restore:", "savepoint:")


def excluded(step: str, fault: Fault) -> str | None:
    """Return why a fault cannot happen at a step, or None if it can."""
    case = CASES[step]
    if fault.nth > 1 and step.startswith(_DONE_ONCE):
        return "the step is done once or twice"
    if fault.process != "driver":
        return "there are no hosts" if case.no_hosts else None
    if fault.scenario is not None and case.scenario is not restored:
        return "there is no older driver"
    if fault.kind == "error" and case.in_host:
        return "a host does the step"
    if case.settings == IN_MEMORY and (fault.kind == "kill" or fault.beside):
        return "a checkpoint in memory ends with its driver"
    if case.settings == WITHOUT_CHECKPOINTS and fault.beside:
        return "there is no checkpoint that another driver could start from"
    if step.endswith("the checkpoints are removed") and fault.beside:
        return "there is no checkpoint any more that another driver could start from"
    return None


STEPS_OF_HOSTS = (
    "host: a checkpoint begins",
    "host: a checkpoint is complete",
    "host: it is connected",
    "host: its part of a checkpoint is written",
    "host: its subtasks are open",
    "host: its subtasks close",
)
FAULTS_OF_HOSTS = (
    ("driver", "kill"),
    ("host", "kill"),
    ("host", "error"),
    ("host", "hang"),
    ("host", "full disk"),
    ("executor", "kill"),
)
"""The faults at these steps: a process and a kind."""


def excluded_in_hosts(step: str, fault: tuple[str, str]) -> str | None:
    """Return why something cannot happen at a step of hosts, or None if it can."""
    if fault[1] == "full disk" and step == "host: its subtasks close":
        return "no write follows"
    return None


@dataclass(frozen=True)
class Cell:
    """A fault at a step."""

    step: str
    fault: Fault

    def __str__(self) -> str:
        return f"{self.step}, {self.fault}"


def cells(without: Mapping[str, str] | None = None) -> Iterator[Cell]:
    """Yield all cells.

    Args:
        without: the steps that are not done with an output, and why.
    """
    for step in CASES:
        if step not in (without or {}):
            yield from (Cell(step, fault) for fault in FAULTS if excluded(step, fault) is None)


def chosen(output: str, everything: bool = TRIES_ALL) -> list[Cell]:
    """Return the cells that the tests of an output run: all, or some of each step and fault.

    Args:
        output: which.
        everything: whether to run all.
    """
    order, places = list(CASES), list(FAULTS)

    def is_chosen(cell: Cell) -> bool:
        place = places.index(cell.fault)
        always = output == "files" and place in (0, _ERROR)
        return everything or always or (order.index(cell.step) + place) % _EVERY[output] == 0

    return [cell for cell in cells(WITHOUT[output]) if is_chosen(cell)]


def run(cell: Cell, make: Callable[..., World]) -> World:
    """Let a fault happen at a step, and compare with what happens without it.

    Args:
        cell: the step and the fault.
        make: makes the world of some settings.
    """
    fault, case = cell.fault, CASES[cell.step]
    world = make(settings={**case.settings, **fault.settings})
    world.parallelism = world.machines = fault.machines
    struck = arrange(world, cell)
    with world.running():
        last = (fault.scenario or case.scenario)(world)
    assert struck, f"the step was not done:\n{world}"
    may_lose = case.scenario is cancelled and not fault.beside
    may_lose = may_lose or (case.settings == WITHOUT_CHECKPOINTS and last.state == "has failed")
    world.check(complete=not may_lose)
    assert last.dead or last.state == "is done", world
    return world


def arrange(world: World, cell: Cell, nth: int = 0, copies: bool = True) -> list[Cell]:
    """Let the fault of a cell happen in a world; return what will have the cell then.

    Args:
        world: where it happens.
        cell: the step and the fault.
        nth: the how-manieth time that the step is done; 0 for that of the fault.
        copies: whether another driver may start from a savepoint, which the first one does not
            notice.
    """
    struck = []

    def strike(world: World) -> None:
        struck.append(cell)
        cell.fault.strike(world)

    if CASES[cell.step].in_host and cell.fault.kind == "hang":
        world.suspendable = True
    world.plan(cell.step, nth or cell.fault.nth, strike, partial(_is_time, cell.fault, copies))
    return struck


def _is_time(fault: Fault, copies: bool, world: World) -> bool:
    assert world.acting is not None
    if fault.beside:
        younger = world.drivers[world.drivers.index(world.acting) + 1 :]
        newest = _newest(world)
        may_start = newest is not None and (copies or newest.name.startswith("chk-"))
        return may_start and not any(each.state == "is done" for each in younger)
    if fault.scenario is not None:
        return world.acting is not world.drivers[0]
    return fault.process == "driver" or (world.hosts or world.acting.hosts) is not None
