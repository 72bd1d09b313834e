from __future__ import annotations

import os
import sys

import pytest

from benchmarks.__main__ import result_lines
from benchmarks.measure import CommandFailed, run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="measuring needs Linux's /proc"),
]

BUSY = "import time; end = time.process_time() + 0.5\nwhile time.process_time() < end: pass"
LEAVES_A_BUSY_PROCESS = (
    f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {BUSY!r}]); print('done')"
)
FORGETS_A_BUSY_CHILD = f"""
import os, signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if os.fork() == 0:
    exec({BUSY!r})
    os._exit(0)
try:
    os.wait()
except ChildProcessError:
    print('done')
"""


def python(program, timeout=20):
    return run([sys.executable, "-c", program], env=dict(os.environ), cwd="/", timeout=timeout)


@pytest.mark.parametrize(
    "program", [BUSY + "\nprint('done')", LEAVES_A_BUSY_PROCESS, FORGETS_A_BUSY_CHILD]
)
def test_output_and_processor_time_of_all_processes(program):
    measured = python(program)
    assert measured.output == "done\n"
    assert 0.2 <= measured.processor_seconds < 2  # the last look can be 0.2 s old


def test_a_failure_shows_what_the_command_said():
    with pytest.raises(CommandFailed, match="ended with 3:\nno luck"):
        python("import sys; print('no luck'); sys.exit(3)")


def test_a_command_that_takes_too_long_is_ended():
    with pytest.raises(CommandFailed, match="timed out"):
        python("import time; time.sleep(60)", timeout=0.2)


def test_results_are_told_from_other_output():
    output = "WARNING> none\nresult> b 2\nplain\nresult:2> a > 1\nresult>\n"
    assert result_lines(output) == ["a > 1", "b 2"]
