"""Makes ``from pyflink...`` mean this package, in the tests and in what they test."""

from __future__ import annotations

import sys
from pathlib import Path

import pyflink_on_spark

pyflink_on_spark.install()
sys.path.insert(0, str(Path(__file__).parent))
