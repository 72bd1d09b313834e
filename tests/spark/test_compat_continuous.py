"""What matters most of the compatibility suite, on Spark in continuous mode.

Jobs are cut into epochs of two elements, with a checkpoint behind each. `tox -e continuous` runs
the whole suite so, which takes a quarter of an hour; in-process it is part of every run.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TESTS = {
    "async_io": ["ordered"],
    "broadcast_state": ["keyed", "broadcast_side"],
    "connected_streams": ["keyed_join_with_timers", "co_process_with_side_output"],
    "count_windows": ["sliding", "per_key"],
    "csv_files": ["header_comments_and_compression"],
    "custom_windows": ["window_and_global_state"],
    "execute": ["two_sinks_share_their_upstream", "failure_shows_the_user_s_error"],
    "file_sink": ["a_file_can_be_read_back"],
    "keyed_state": ["list_state", "reducing_state", "aggregating_state", "map_state"],
    "late_data": ["allowed_lateness_and_side_output"],
    "lifecycle": ["order_in_a_chain", "once_per_subtask"],
    "metrics": ["metrics_are_accumulators"],
    "partitioning": ["partition_custom_function", "broadcast_goes_everywhere"],
    "reduce": ["several_reduces_in_a_row"],
    "session_windows": ["an_element_bridges_two_sessions"],
    "side_output": ["through_operators_and_a_keyed_stream"],
    "state_ttl": ["value_expires"],
    "text_file_source": ["in_parallel"],
    "time_windows": ["windows_fire_between_elements", "sliding"],
    "timers": [
        "timers_use_the_state_of_their_key",
        "timers_between_elements",
        "processing_time_timer_fires_while_elements_come",
    ],
    "triggers": ["own_trigger_with_state", "own_trigger_with_timers"],
    "union": ["a_branch_that_splits_and_comes_together"],
    "watermarks": ["union_has_the_lowest_watermark", "windows_wait_for_all_subtasks"],
    "window_all": ["all_elements_meet"],
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
