"""Runs whole jobs in this process, without a JVM, so that breakpoints in user functions work."""

from __future__ import annotations

from pyflink_on_spark.testing.local_engine import LocalEngine, install_local_engine

__all__ = ["LocalEngine", "install_local_engine"]
