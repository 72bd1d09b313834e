"""PyFlink's API on Apache Spark.

A script that says ``from pyflink.datastream import ...`` runs unchanged after ``install()``, or
with ``python -m pyflink_on_spark script.py``; or its imports are changed to ``pyflink_on_spark``.

``__version__`` is the version of this package, ``__pyflink_version__`` that of PyFlink, whose API
it has.
"""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._compat import registry
from pyflink_on_spark._compat.import_hook import install
from pyflink_on_spark.version import __version__ as __pyflink_version__

__version__ = "0.1.0"

__all__ = ["__pyflink_version__", "__version__", "install"]


def _spark_engine() -> object:
    from pyflink_on_spark._spark.engine import SparkEngine

    return SparkEngine()


def _spark_frames() -> object:
    from pyflink_on_spark._spark.session import frames

    return frames


def _spark_metastore() -> object:
    from pyflink_on_spark._spark.session import metastore

    return metastore


registry.register("engine", _spark_engine)
registry.register("frames", _spark_frames)
registry.register("metastore", _spark_metastore)
