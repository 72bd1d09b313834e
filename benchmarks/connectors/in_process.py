"""Runs a job's script without Spark: what connectors and runtime cost by themselves.

python -m benchmarks.connectors.in_process SCRIPT [ARGUMENT ...]
"""

from __future__ import annotations

import runpy
import sys

import pyflink_on_spark
from pyflink_on_spark.testing import install_local_engine

if __name__ == "__main__":
    pyflink_on_spark.install()
    install_local_engine()
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
