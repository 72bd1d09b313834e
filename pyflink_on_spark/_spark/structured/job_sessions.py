"""The sessions of a Spark Connect server in which jobs run."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._options.own import CONNECT_TIMEOUT
from pyflink_on_spark._runtime.user_code import PythonDependencies
from pyflink_on_spark._spark.session.dependencies import packed_package
from pyflink_on_spark._spark.session.spark_defaults import BUNDLE_SETTINGS
from pyflink_on_spark._spark.structured.server_calls import ServerCall

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class JobSessions:
    """Gives jobs sessions that have this package, and the settings that jobs need.

    A session keeps the files that a job has brought, so each job that brings some has a session of
    its own. All others of a program share one: the Python workers of a server belong to a session,
    and a new one has to load this package again.
    """

    def __init__(self) -> None:
        self._shared: WeakKeyDictionary[SparkSession, SparkSession] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def of(self, session: SparkSession, configuration: Mapping[str, str]) -> SparkSession:
        """Return the session for a job.

        Args:
            session: a session of the server.
            configuration: the job's.

        Raises:
            EnvironmentSetupError: if the server does not answer any more.
            FileNotFoundError: if a file that the job is to bring does not exist.
        """
        from pyflink_on_spark._spark.session.server_patience import wait_at_most

        timeout = CONNECT_TIMEOUT.read(configuration)
        if PythonDependencies.of(configuration) != PythonDependencies():
            return _equipped(session, timeout)
        with self._lock:
            found = self._shared.get(session)
            if found is None or not _serves(found):
                found = self._shared[session] = _equipped(session, timeout)
            wait_at_most(found, timeout)
            return found


def _equipped(session: SparkSession, timeout_ms: int) -> SparkSession:
    """Return a new session of the same server.

    Args:
        session: any session of it.
        timeout_ms: how long requests wait for the server.
    """
    from pyspark.errors import PySparkException

    from pyflink_on_spark._spark.session.server_patience import (
        leave_at_exit,
        wait_at_most,
        why_lost,
    )

    new = session.newSession()
    wait_at_most(new, timeout_ms)
    leave_at_exit(new)
    try:
        for key, value in BUNDLE_SETTINGS.items():
            new.conf.set(key, value)
        new.addArtifacts(str(packed_package()), pyfile=True)
        new.dataSource.register(ServerCall)
    except PySparkException as error:
        why = why_lost(new, error)
        if why is None:
            raise
        raise EnvironmentSetupError(f"{why}: no job can start") from error
    return new


def _serves(session: SparkSession) -> bool:
    """True unless the server has closed a session, as after an hour without requests."""
    from pyspark.errors import PySparkException

    try:
        session.conf.get("spark.master", "")
    except PySparkException:
        return False
    return True
