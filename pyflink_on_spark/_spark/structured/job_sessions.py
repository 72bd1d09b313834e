"""The sessions of a Spark Connect server in which jobs run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
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

    _Closable = tuple[SparkSession, Callable[[], None]]
    """A session, and what closes it."""


class JobSessions:
    """Gives jobs sessions that have this package, and the settings that jobs need.

    A session keeps the files that a job has brought, so each job that brings some has a session of
    its own. All others of a program share one: the Python workers of a server belong to a session,
    and a new one has to load this package again. A session of one job ends with it.
    """

    def __init__(self) -> None:
        self._single: dict[SparkSession, Callable[[], None]] = {}
        self._shared: WeakKeyDictionary[SparkSession, _Closable] = WeakKeyDictionary()
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
            single, close = _equipped(session, timeout)
            self._single[single] = close
            return single
        with self._lock:
            shared = self._shared.get(session)
            if shared is not None and not _serves(shared[0]):
                shared[1]()
                shared = None
            if shared is None:
                shared = self._shared[session] = _equipped(session, timeout)
            wait_at_most(shared[0], timeout)
            return shared[0]

    def give_back(self, session: SparkSession) -> None:
        """Close a session whose only job has ended; one of several jobs stays.

        Args:
            session: what ``of`` has returned.
        """
        close = self._single.pop(session, None)
        if close is not None:
            close()


def _equipped(session: SparkSession, timeout_ms: int) -> _Closable:
    """Return a new session of the same server, and what closes it.

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
    close = leave_at_exit(new)
    try:
        for key, value in BUNDLE_SETTINGS.items():
            new.conf.set(key, value)
        new.addArtifacts(str(packed_package()), pyfile=True)
        new.dataSource.register(ServerCall)
    except PySparkException as error:
        why = why_lost(new, error)
        close()
        if why is None:
            raise
        raise EnvironmentSetupError(f"{why}: no job can start") from error
    return new, close


def _serves(session: SparkSession) -> bool:
    """True unless the server has closed a session, as after an hour without requests."""
    from pyspark.errors import PySparkException

    try:
        session.conf.get("spark.master", "")
    except PySparkException:
        return False
    return True
