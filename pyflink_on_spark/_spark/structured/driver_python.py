"""The Python that Spark starts beside the driver for each query, only to see the state of it."""

from __future__ import annotations

import contextlib
import subprocess
import sys

from pyspark import SparkContext

from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._spark.session.spark_defaults import is_local

_TRIAL_SECONDS = 60.0
_VERSION = sys.version_info[:2]
_TRIAL = f"""
import sys
if sys.version_info[:2] != {_VERSION}:
    sys.exit("it is Python " + sys.version.split()[0])
import pandas, pyarrow, pyflink_on_spark
"""


def check_driver_python(context: SparkContext) -> None:
    """Make sure that the interpreter of Spark's workers can serve a query on this machine too.

    Where it cannot, Spark says no more than that it crashed. On a cluster it need not be the
    driver's own interpreter: without a setting it is ``python3``.

    Raises:
        EnvironmentSetupError: a library is missing, or the version is another one.
    """
    if is_local(context.master):
        return
    command = [context.pythonExec, "-c", _TRIAL]
    told = ""
    with contextlib.suppress(subprocess.TimeoutExpired):  # a busy machine: Spark may have more luck
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_TRIAL_SECONDS, check=False
            )
        except OSError as error:
            told = str(error)
        else:
            told = done.stderr.strip() if done.returncode else ""
    if told:
        raise EnvironmentSetupError(
            f"the engine 'structured' needs the interpreter of Spark's workers, "
            f"{context.pythonExec!r}, on the driver's machine too, with pandas, pyarrow and "
            f"pyflink_on_spark for Python {_VERSION[0]}.{_VERSION[1]}; there "
            f"{told.splitlines()[-1]}: set PYSPARK_PYTHON or spark.pyspark.python"
        )
