from __future__ import annotations

import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor

import pytest

from benchmarks.__main__ import result_lines
from benchmarks.measure import CommandFailed, run

BUSY = "import time; end = time.process_time() + 0.4\nwhile time.process_time() < end: pass"
LEAVES_A_BUSY_PROCESS = (
    f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {BUSY!r}]); print('done')"
)


def python(program, timeout=20):
    # `run` waits for every child of its process, so it gets a process without others.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        command = [sys.executable, "-c", program]
        return pool.submit(run, command, env=dict(os.environ), cwd="/", timeout=timeout).result()


def test_output_and_processor_time():
    measured = python(BUSY + "\nprint('done')")
    assert measured.output == "done\n"
    assert 0.4 <= measured.processor_seconds < 0.4 + measured.seconds


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux hands orphans over")
def test_processor_time_of_a_process_that_outlives_the_command():
    measured = python(LEAVES_A_BUSY_PROCESS)
    assert measured.output == "done\n"
    assert measured.processor_seconds >= 0.4


def test_a_failure_shows_what_the_command_said():
    with pytest.raises(CommandFailed, match="ended with 3:\nno luck"):
        python("import sys; print('no luck'); sys.exit(3)")


def test_a_command_that_takes_too_long_is_ended():
    with pytest.raises(CommandFailed, match="timed out"):
        python("import time; time.sleep(60)", timeout=0.2)


def test_results_are_told_from_other_output():
    output = "WARNING> none\nresult> b 2\nplain\nresult:2> a > 1\nresult>\n"
    assert result_lines(output) == ["a > 1", "b 2"]
