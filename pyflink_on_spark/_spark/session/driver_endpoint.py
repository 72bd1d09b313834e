"""Where the driver listens for the processes of its jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyflink_on_spark._cluster.transport.handshake import Endpoint
from pyflink_on_spark._spark.session.application_settings import application_settings
from pyflink_on_spark._spark.session.encryption import is_encrypted, new_identity
from pyflink_on_spark._spark.session.spark_defaults import LOOPBACK

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def driver_endpoint(session: SparkSession, ports: Sequence[int]) -> Endpoint:
    """Return where to listen: at the addresses where Spark's driver does.

    Args:
        session: the job's.
        ports: the ports to choose from.
    """
    conf = application_settings(session.sparkContext)
    host = conf.get("spark.driver.host") or LOOPBACK
    bind = conf.get("spark.driver.bindAddress") or host
    return Endpoint(
        host.strip("[]"),
        bind.strip("[]"),
        ports,
        new_identity(session) if is_encrypted(session) else None,
    )
