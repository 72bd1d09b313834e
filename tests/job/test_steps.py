"""Nothing is lost and nothing is doubled, at whichever step a process fails.

The names of the steps are taken from the code: a new one without a case is an error.
"""

from __future__ import annotations

from functools import partial

import pytest

from tests.job.crash_points import CASES, IN_HOSTS, IN_QUERIES, chosen, run, steps
from tests.job.simulated_world import World

# What is left of a dead driver is collected at any time, and still cannot touch the disk.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def test_each_step_has_a_name_of_its_own_and_a_case():
    names = [name for name in steps() if not name.startswith((IN_HOSTS, IN_QUERIES))]
    assert sorted(names) == sorted(CASES)


@pytest.mark.parametrize("cell", chosen("files"), ids=str)
def test_a_step(tmp_path, cell):
    run(cell, partial(World, tmp_path))


@pytest.mark.parametrize("cell", chosen("long files"), ids=str)
def test_a_step_with_files_that_continue_across_checkpoints(tmp_path, cell):
    run(cell, partial(World, tmp_path, part_size=30))
