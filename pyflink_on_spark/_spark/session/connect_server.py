"""The server of Spark Connect in which jobs run, if there is to be one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._spark.session.java_home import gist
from pyflink_on_spark._spark.session.session import (
    MASTERS,
    unreachable,
)
from pyflink_on_spark._spark.session.spark_defaults import (
    interpreter_for_workers,
    is_local,
    worker_path,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REMOTE = "spark.remote"
_PORT = 15002
_PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")


def check_server(address: str) -> None:
    """Make sure that there can be a server at this address.

    PySpark would try for ten minutes to reach one, and as long again when the program ends.

    Args:
        address: for example ``sc://host:15002/;token=...``, or ``local[2]``.

    Raises:
        EnvironmentSetupError: it is no such address, or nothing listens where it says.
    """
    if not address.startswith("sc://"):
        if not (address.startswith("local") and MASTERS.fullmatch(address)):
            raise EnvironmentSetupError(
                f"there is no Spark Connect server {address!r}: it is sc://HOST:PORT, or local[2] "
                "for one that is started here"
            )
        return
    if any(os.environ.get(name) for name in _PROXIES):
        return  # only the proxy reaches it
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port or _PORT
    except ValueError:
        return  # PySpark says what is wrong with it
    reason = unreachable(f"[{host}]:{port}" if ":" in (host or "") else f"{host}:{port}")
    if host and reason:
        raise EnvironmentSetupError(f"no Spark Connect server answers at {host}:{port}: {reason}")


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
    check_server(address)
    interpreter = interpreter_for_workers(settings)
    if is_local(address):  # of the server that PySpark starts here
        os.environ["PYTHONPATH"] = worker_path()
        if interpreter is not None:
            os.environ["PYSPARK_PYTHON"] = interpreter
    try:
        made = SparkSession.builder.remote(address).getOrCreate()
    except ImportError as error:
        raise EnvironmentSetupError(
            f"Spark Connect needs libraries that are missing ({error}): "
            "pip install 'pyflink_on_spark[connect]'"
        ) from error
    except PySparkException as error:
        raise EnvironmentSetupError(
            f"the Spark Connect server {address} cannot be used: {gist(str(error))}"
        ) from error
    from pyflink_on_spark._spark.session.server_patience import leave_at_exit

    leave_at_exit(made)
    return made
