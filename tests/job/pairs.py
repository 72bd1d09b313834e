"""Two or three faults in the life of one job, each at a step of the protocol."""

from __future__ import annotations

import random
from pathlib import Path

from tests.job.crash_points import (
    CASES,
    IN_MEMORY,
    WITHOUT_CHECKPOINTS,
    arrange,
    cancelled,
    cells,
)
from tests.job.simulated_world import World

_CELLS = [
    cell
    for cell in cells()
    if CASES[cell.step].settings not in (IN_MEMORY, WITHOUT_CHECKPOINTS)
    and cell.fault.scenario is None
]


class Pair:
    """A life of a job with two or three faults.

    Args:
        seed: of all that chance decides.
        folder: for everything.
    """

    def __init__(self, seed: int, folder: Path) -> None:
        chance = random.Random(seed)
        self._cells = chance.sample(_CELLS, chance.choice([2, 2, 3]))
        first = self._cells[0]
        settings = {
            **CASES[first.step].settings,
            "execution.checkpointing.num-retained": str(chance.randint(1, 2)),
            "execution.checkpointing.tolerable-failed-checkpoints": str(chance.choice([0, 3])),
        }
        if chance.random() < 0.3:
            settings["state.changelog.enabled"] = "true"
        part_size = chance.choice([None, 1, 8, 30])
        self.world = World(folder, seed, chance.randint(8, 20), settings, part_size)
        self.world.parallelism = self.world.machines = chance.randint(1, 3)
        self._later = [(cell, chance.randint(1, 4)) for cell in self._cells[1:]]

    def run(self) -> World:
        """Run it; raise AssertionError if something is lost or there twice."""
        world, first = self.world, self._cells[0]
        world.log.append(f"-- {', then '.join(map(str, self._cells))}")
        for cell, nth in [(first, 0), *self._later]:
            arrange(world, cell, nth, copies=False)
        scenario = CASES[first.step].scenario
        with world.running():
            last = scenario(world)
        world.check(complete=scenario is not cancelled)
        assert last.dead or last.state == "is done", "the job has not ended"
        return world
