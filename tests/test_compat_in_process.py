"""The whole compatibility suite in-process: without a JVM, in seconds.

Once as it is, and once with jobs that are cut into pieces and restarted after each of them. The
tests of tables also with a checkpoint after each piece alone, since some of them, such as those of
late rows, cannot be restarted.
Most of its time is spent waiting for time to pass, so parts of it run side by side.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
PARTS = 4


@pytest.mark.parametrize(
    ("mode", "pattern"),
    [("whole", "test_*.py"), ("restarted", "test_*.py"), ("continuous", "test_table_*.py")],
)
def test_compatibility_tests_in_process(tmp_path, mode, pattern):
    files = sorted((ROOT / "compat_tests").glob(pattern))
    environment = {**os.environ, "PYTEST_ADDOPTS": "", "PYTHONDONTWRITEBYTECODE": "1"}
    runs = []
    for part in range(PARTS):
        log = (tmp_path / f"part-{part}.txt").open("w+", encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += ["--engine=local", f"--mode={mode}"]
        names = [str(file.relative_to(ROOT)) for file in files[part::PARTS]]
        process = subprocess.Popen(
            [*command, f"--basetemp={tmp_path / str(part)}", *names],
            cwd=ROOT,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        runs.append((process, log))
    failures = []
    for process, log in runs:
        if process.wait() != 0:
            log.seek(0)
            failures.append(log.read())
        log.close()
    assert not failures, "\n".join(failures)
