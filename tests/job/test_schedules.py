"""Whatever happens to drivers, hosts and the disk: nothing is lost, nothing is there twice."""

from __future__ import annotations

import pytest

from tests.job.schedules import run_schedule

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
_COUNT, _AT_ONCE = 200, 20


@pytest.mark.parametrize("first", range(0, _COUNT, _AT_ONCE))
def test_schedules(first):
    for seed in range(first, first + _AT_ONCE):
        run_schedule(seed)
