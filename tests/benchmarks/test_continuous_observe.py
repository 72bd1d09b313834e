from __future__ import annotations

import os
import sys

import pytest

from benchmarks.continuous.observe import observe
from benchmarks.measure import CommandFailed

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="measuring needs Linux's /proc"),
]

# The child is in a session of its own, as hosts are.
JOB = """
import pathlib, subprocess, sys
pathlib.Path(sys.argv[1], "a.jsonl").write_text("[]")
hold = "import sys; x = bytearray(80_000_000); sys.stdin.read()"
child = subprocess.Popen(
    [sys.executable, "-c", hold], stdin=subprocess.PIPE, start_new_session=True
)
sys.stdin.read()
"""


def look(folder, program):
    command = [sys.executable, "-c", program, str(folder)]
    env = dict(os.environ)
    return observe(command, env=env, cwd="/", folder=folder, warm_up=0.5, seconds=1)


def test_all_descendants_count(tmp_path):
    samples = look(tmp_path, JOB)
    assert samples[-1].resident["python"] > 80_000_000
    assert samples[-1].processor_seconds > 0


def test_a_job_that_ends_by_itself_has_failed(tmp_path):
    with pytest.raises(CommandFailed, match="no luck"):
        look(tmp_path, "print('no luck')")
