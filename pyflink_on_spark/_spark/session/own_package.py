"""Brings this package to the workers of a cluster, which need not have it installed."""

from __future__ import annotations

import zipfile
from pathlib import Path

import cloudpickle
from pyspark.sql import SparkSession

from pyflink_on_spark._spark.session.scratch import scratch_subfolder
from pyflink_on_spark._spark.session.spark_defaults import PACKAGE_ROOT, is_local
from pyflink_on_spark.version import __version__

_shipped: set[str] = set()


def ship_own_package(session: SparkSession) -> None:
    """Let Spark bring this package, and what it needs beside pyarrow, to workers elsewhere.

    Theirs is then the driver's version, whatever they have. Nothing happens where workers are on
    the driver's machine.
    """
    context = session.sparkContext
    if is_local(context.master) or context.applicationId in _shipped:
        return
    context.addPyFile(str(packed_package()))
    _shipped.add(context.applicationId)


def packed_package() -> Path:
    """Return a zip file with this package and what it needs beside pyarrow."""
    packed = scratch_subfolder("package") / f"pyflink_on_spark-{__version__}.zip"
    packages = (PACKAGE_ROOT / "pyflink_on_spark", Path(cloudpickle.__file__).parent)
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in packages:
            for file in sorted(package.rglob("*")):
                if file.is_file() and file.suffix != ".pyc":
                    archive.write(file, file.relative_to(package.parent))
    return packed
