"""Nothing is lost and nothing is duplicated under any faults of drivers, hosts and the disk."""

from __future__ import annotations

import pytest

from tests.job.pairs import Pair
from tests.job.schedules import run_schedule

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
_COUNT, _AT_ONCE = 200, 20
_IN_EACH_RUN = 60
_FIRST = [
    pytest.param(first, marks=[pytest.mark.nightly] * (first >= _IN_EACH_RUN))
    for first in range(0, _COUNT, _AT_ONCE)
]


@pytest.mark.parametrize("first", _FIRST)
def test_schedules(first):
    for seed in range(first, first + _AT_ONCE):
        run_schedule(seed)


def test_pairs_of_faults_at_steps():
    for seed in range(_AT_ONCE):
        run_schedule(seed, Pair)
