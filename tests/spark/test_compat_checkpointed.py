"""The most important compatibility tests, on Spark with checkpoints.

Jobs take a checkpoint after every two elements of a source. `tox -e continuous` runs
the whole suite so; in-process it is part of every run.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TESTS = {
    "broadcast_state": ["keyed"],
    "connected_streams": ["keyed_join_with_timers", "co_process_with_side_output"],
    "count_windows": ["per_key"],
    "file_sink": ["a_file_can_be_read_back"],
    "keyed_state": ["aggregating_state", "map_state"],
    "late_data": ["allowed_lateness_and_side_output"],
    "lifecycle": ["once_per_subtask"],
    "session_windows": ["an_element_bridges_two_sessions"],
    "side_output": ["through_operators_and_a_keyed_stream"],
    "time_windows": ["windows_fire_between_elements"],
    "timers": [
        "timers_use_the_state_of_their_key",
        "processing_time_timer_fires_while_elements_come",
    ],
    "watermarks": ["union_has_the_lowest_watermark"],
}


def test_the_compatibility_tests_that_matter_most():
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--mode=continuous"]
    command += [f"compat_tests/test_{f}.py::test_{name}" for f in TESTS for name in TESTS[f]]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTEST_ADDOPTS": "", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
