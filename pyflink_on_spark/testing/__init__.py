"""Runs whole jobs in this process, without a JVM, and single operators step by step.

Breakpoints in user functions work. See docs/use/testing.md.
"""

from __future__ import annotations

from pyflink_on_spark._runtime.elements.bundle import Watermark
from pyflink_on_spark.testing.function_harness import harness_for
from pyflink_on_spark.testing.local_engine import LocalEngine, install_local_engine, local_engine
from pyflink_on_spark.testing.stream_harness import ManualClock, Record, StreamHarness

__all__ = [
    "LocalEngine",
    "ManualClock",
    "Record",
    "StreamHarness",
    "Watermark",
    "harness_for",
    "install_local_engine",
    "local_engine",
]
