"""Commands that only ask a server or a driver load nothing that runs jobs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_SCRIPT = """
import sys
import pyflink_on_spark.__main__
from pyflink_on_spark.tools.operate.commands import find_server, submit
print(*(name for name in ("numpy", "pyarrow", "pyspark", "pyflink_on_spark.datastream")
        if name in sys.modules))
"""


def test_a_command_that_asks_a_server_loads_no_library_of_jobs():
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=True, cwd=_ROOT
    )
    assert done.stdout.strip() == ""
