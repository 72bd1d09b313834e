"""Random schedules of the simulated world; a seed repeats one.

python -m tests.job.schedules --count 100000 [--first SEED]
python -m tests.job.schedules --seed SEED

With --pairs, a schedule is two or three faults at steps of the protocol; see ``pairs``.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import sys
import tempfile
import time
from pathlib import Path

from tests.job.pairs import Pair
from tests.job.simulated_driver import Driver
from tests.job.simulated_world import FullDisk, World

_MOST_TURNS = 3_000
_EVENTS = {
    "nothing": 60,
    "kill": 6,
    "fail": 4,
    "full disk": 2,
    "lose host": 3,
    "suspend": 3,
    "save": 1,
    "stop": 1,
    "drain": 1,
    "clock": 2,
}


class Schedule:
    """One life of a job, with all that happens to it.

    Args:
        seed: of all that chance decides.
        folder: for everything.
    """

    def __init__(self, seed: int, folder: Path) -> None:
        self.chance = random.Random(seed)
        settings = {
            "execution.checkpointing.num-retained": str(self.chance.randint(1, 2)),
            "execution.checkpointing.tolerable-failed-checkpoints": str(self.chance.randint(0, 3)),
        }
        if self.chance.random() < 0.3:
            settings["state.changelog.enabled"] = "true"
        part_size = self.chance.choice([None, 1, 8, 30])
        self.world = World(folder, seed, self.chance.randint(6, 16), settings, part_size)
        self._driver = Driver(self.world, 0)
        self._suspended: list[Driver] = []
        self._disturbances = self.chance.randint(1, 8)

    def run(self) -> World:
        """Run it; raise AssertionError if something is lost or there twice."""
        world = self.world
        with world.running():
            for _ in range(_MOST_TURNS):
                if self._is_over():
                    break
                self._turn()
                world.check()
            else:
                raise AssertionError(f"the job is stuck:\n{world}")
            for driver in self._suspended:
                for _ in range(30):
                    driver.act()
        world.check(complete=True)
        return world

    def _is_over(self) -> bool:
        driver, world = self._driver, self.world
        return driver.is_last or (
            driver.state == "is done" and len(world.lines()) == world.elements
        )

    def _turn(self) -> None:
        world = self.world
        world.clock.time += self.chance.choice([0, 5, 20, 150])
        if self._disturbances:
            (event,) = self.chance.choices(list(_EVENTS), list(_EVENTS.values()))
            if event != "nothing":
                self._disturbances -= 1
                self._disturb(event)
        if self._driver.ended:
            self._start()
        self._driver.act()
        if self._suspended and self.chance.random() < 0.3:
            self.chance.choice(self._suspended).act()

    def _start(self) -> None:
        number = self._driver.number + 1
        newest = self.world.newest_checkpoint()
        parallelism, hosts = self.chance.randint(1, 3), self.chance.randint(1, 3)
        self._driver = Driver(self.world, number, newest, parallelism, hosts)

    def _newest_is_fenced(self) -> bool:
        """True if a new driver takes the job over; from a savepoint, it would be a copy."""
        newest = self.world.newest_checkpoint()
        return newest is not None and newest.name.startswith("chk-")

    def _disturb(self, event: str) -> None:
        world, driver = self.world, self._driver
        world.log.append(f"-- {event}")
        if event == "kill":
            world.plan("any", self.chance.randint(1, 25), World.kill)
        elif event == "fail":
            world.plan("any", self.chance.randint(1, 25), World.fail)
        elif event == "full disk":
            world.full = FullDisk(self.chance.randint(1, 4))
        elif event == "lose host":
            driver.lose_host()
        elif event == "suspend" and self._newest_is_fenced():
            self._suspended.append(driver)
            self._start()
        elif event == "save":
            driver.save()
        elif event in ("stop", "drain"):
            driver.stop(drain=event == "drain")
        elif event == "clock":
            world.clock.time += self.chance.choice([-3_600_000, -500, 500, 3_600_000])


def run_schedule(seed: int, kind: type[Schedule | Pair] = Schedule) -> World:
    """Run the schedule of a seed; raise AssertionError with the seed if something is wrong."""
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=memory, prefix="schedule-") as folder:
        schedule = kind(seed, Path(folder))
        try:
            return schedule.run()
        except BaseException as error:
            raise AssertionError(f"schedule {seed}: {error}\n{schedule.world}") from error


def main() -> int:
    """Run it as the command line says; the exit code is 1 if a schedule fails."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, help="run this one and print what happens")
    parser.add_argument("--pairs", action="store_true", help="two or three faults at steps")
    options = parser.parse_args()
    kind = Pair if options.pairs else Schedule
    logging.disable()
    sys.unraisablehook = lambda _: None  # what is left of dead drivers cannot touch the disk
    if options.seed is not None:
        print(run_schedule(options.seed, kind))
        return 0
    failed = 0
    begun = time.monotonic()
    for seed in range(options.first, options.first + options.count):
        try:
            run_schedule(seed, kind)
        except AssertionError as error:
            failed += 1
            print(str(error).partition("\n")[0], flush=True)
    took = time.monotonic() - begun
    print(f"{options.count} schedules in {took:.0f} s: {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
