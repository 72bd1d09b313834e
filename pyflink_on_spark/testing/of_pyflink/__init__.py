"""Stands for ``pyflink.testing``: the base classes of PyFlink's own tests."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name

__getattr__ = missing_name(
    __name__, "pyflink_on_spark.testing has this package's own tools for tests."
)
