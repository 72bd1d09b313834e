"""A driver that is killed, or fails, at any step of the protocol loses nothing and doubles nothing.

The names of the steps are taken from the code: a new one without a case here is an error.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import pyflink_on_spark
from tests.job.simulated_world import Driver, World, after_a_checkpoint, run_to_the_end

# What is left of a dead driver is collected at any time, and still cannot touch the disk.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
PACKAGE = Path(pyflink_on_spark.__file__).parent
WITHOUT_CHECKPOINTS = {"execution.checkpointing.interval": "unset"}
IN_MEMORY = {"execution.checkpointing.dir": "unset"}


def undisturbed(world):
    """A job from its beginning to its end."""
    return run_to_the_end(world, Driver(world, 0))


def restored(world):
    """One that is killed, and restored with another parallelism."""
    step, world.kill_at = world.kill_at, ("checkpoint: it is committed", 2)
    error, world.fail_at = world.fail_at, None
    driver = Driver(world, 0)
    while not driver.dead:
        driver.act()
    world.kill_at, world.fail_at = step, error
    return run_to_the_end(world, Driver(world, 1, world.newest_checkpoint(), 3, 1))


def saved(world):
    """One with a savepoint while it runs."""
    driver = after_a_checkpoint(world)
    driver.save()
    return run_to_the_end(world, driver)


def stopped(world, drain=False):
    """One that stops with a savepoint, and continues from there unless all input was read."""
    driver = after_a_checkpoint(world)
    driver.stop(drain)
    driver = run_to_the_end(world, driver)
    if len(world.lines()) < world.elements and driver.state == "is done":
        driver = run_to_the_end(world, Driver(world, 9, world.newest_checkpoint()))
    return driver


def drained(world):
    """One that stops with a savepoint after it has drained."""
    return stopped(world, drain=True)


def cancelled(world):
    """One that is cancelled, and so loses its checkpoints."""
    driver = after_a_checkpoint(world)
    driver.cancel()
    return driver


CASES = {
    "attempt: the last checkpoint is committed": (restored, {}),
    "checkpoint: it begins": (undisturbed, {}),
    "checkpoint: it is committed": (undisturbed, {}),
    "checkpoint: it is complete": (undisturbed, {}),
    "checkpoint: older ones are removed": (undisturbed, {}),
    "checkpoint: the committables are written": (undisturbed, {}),
    "checkpoint: the hosts are notified": (undisturbed, {}),
    "checkpoint: the hosts have taken it": (undisturbed, IN_MEMORY),
    "checkpoint: the hosts have written it": (undisturbed, {}),
    "commit: a sink has committed": (undisturbed, {}),
    "drain: all input is processed": (drained, {}),
    "drain: the sources end": (drained, {}),
    "early end: it is known what stays": (
        cancelled,
        {"execution.checkpointing.externalized-checkpoint-retention": "DELETE_ON_CANCELLATION"},
    ),
    "early end: the checkpoints are removed": (
        cancelled,
        {"execution.checkpointing.externalized-checkpoint-retention": "DELETE_ON_CANCELLATION"},
    ),
    "end without checkpoints: it is committed": (undisturbed, WITHOUT_CHECKPOINTS),
    "end without checkpoints: sinks have prepared": (undisturbed, WITHOUT_CHECKPOINTS),
    "end: the checkpoints are not needed any more": (undisturbed, {}),
    "end: the checkpoints are removed": (undisturbed, {}),
    "restore: the checkpoint is read": (restored, {}),
    "restore: the checkpoint is taken over": (restored, {}),
    "savepoint: it begins": (stopped, {}),
    "savepoint: it is committed": (stopped, {}),
    "savepoint: it is complete": (stopped, {}),
    "savepoint: the hosts are notified": (stopped, {}),
    "savepoint: what it needs is kept": (saved, {}),
    "state: a subtask gives it": (undisturbed, {}),
    "state: the file is complete": (undisturbed, {}),
    "state: the frames of committables are stored": (undisturbed, {}),
}
IN_HOSTS = "host: "
"""What the steps begin with that only hosts of their own processes have: tests/spark."""


def steps():
    """Return the names of all steps, and how often each is in the code."""
    names = []
    texts = (path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    for text in (text for text in texts if "step(" in text):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "step":
                (name,) = node.args
                names.append(name.value)
    return names


def test_each_step_has_a_name_of_its_own_and_a_case():
    names = [name for name in steps() if not name.startswith(IN_HOSTS)]
    assert sorted(names) == sorted(CASES)


# A checkpoint in memory ends with its driver.
OUTLIVING = [name for name, (_, settings) in CASES.items() if settings != IN_MEMORY]


@pytest.mark.parametrize("nth", [1, 3])
@pytest.mark.parametrize("name", OUTLIVING)
def test_a_driver_that_is_killed(tmp_path, name, nth):
    kill_driver(World(tmp_path, settings=CASES[name][1]), name, nth)


@pytest.mark.parametrize("name", [n for n in CASES if not n.startswith("early end")])
def test_a_step_that_fails(tmp_path, name):
    fail_step(World(tmp_path, settings=CASES[name][1]), name)


def kill_driver(world, name, nth):
    """Kill the driver when it does a step for the nth time, and check what is committed."""
    scenario, _ = CASES[name]
    world.kill_at = (name, nth)
    with world.running():
        last = scenario(world)
    assert nth > 1 or "killed" in str(world), world
    world.check(complete=scenario is not cancelled)
    assert last.dead or last.state == "is done"


def fail_step(world, name):
    """Let a step raise an error, and check what is committed."""
    scenario, settings = CASES[name]
    world.fail_at = (name, 1)
    with world.running():
        scenario(world)
    assert "an error" in str(world)
    world.check(complete=settings != WITHOUT_CHECKPOINTS)
