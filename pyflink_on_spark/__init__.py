"""PyFlink's DataStream API on Apache Spark.

A script that says ``from pyflink.datastream import ...`` runs unchanged after ``install()``, or
with ``python -m pyflink_on_spark script.py``; or its imports are changed to ``pyflink_on_spark``.
"""

from __future__ import annotations

from pyflink_on_spark._compat.import_hook import install
from pyflink_on_spark.version import __version__

__all__ = ["__version__", "install"]
