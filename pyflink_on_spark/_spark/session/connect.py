"""The session of Spark Connect that jobs run in, if the program or its settings name one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._spark.session.java_text import gist
from pyflink_on_spark._spark.session.spark_defaults import (
    interpreter_for_workers,
    is_local,
    worker_path,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REMOTE = "spark.remote"


def connect_session(settings: Mapping[str, str]) -> SparkSession | None:
    """Return the session of a Spark Connect server; None if jobs run on a classic Spark.

    Args:
        settings: the user's ``spark.*`` settings; ``spark.remote`` is the server's address, which
            the variable SPARK_REMOTE may also say.

    Raises:
        EnvironmentSetupError: if a library of Spark Connect is missing, or the server does not
            answer.
    """
    from pyspark.errors import PySparkException, PySparkRuntimeError
    from pyspark.sql import SparkSession
    from pyspark.sql.utils import is_remote

    if is_remote():
        try:
            active = SparkSession.getActiveSession()
        except PySparkRuntimeError:
            active = None
        if active is not None:
            return active
    address = settings.get(REMOTE) or os.environ.get("SPARK_REMOTE")
    if not address:
        return None
    interpreter = interpreter_for_workers(settings)
    if is_local(address):  # of the server that PySpark starts here
        os.environ["PYTHONPATH"] = worker_path()
        if interpreter is not None:
            os.environ["PYSPARK_PYTHON"] = interpreter
    try:
        return SparkSession.builder.remote(address).getOrCreate()
    except ImportError as error:
        raise EnvironmentSetupError(
            f"Spark Connect needs libraries that are missing ({error}): "
            "pip install 'pyflink_on_spark[connect]'"
        ) from error
    except PySparkException as error:
        raise EnvironmentSetupError(
            f"the Spark Connect server {address} cannot be used: {gist(str(error))}"
        ) from error
