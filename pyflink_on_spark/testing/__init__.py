"""Runs whole jobs in this process, without a JVM, so that breakpoints in user functions work."""

from __future__ import annotations

from pyflink_on_spark.testing.local_engine import LocalEngine, install_local_engine, local_engine
from pyflink_on_spark.testing.manual_clock import ManualClock

__all__ = ["LocalEngine", "ManualClock", "install_local_engine", "local_engine"]
