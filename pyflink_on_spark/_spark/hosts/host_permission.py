"""The permission of Spark's tasks to be hosts: to live as long as a job, and to open sockets."""

from __future__ import annotations

import contextlib
import errno
import logging
import secrets
import threading
import uuid
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from multiprocessing import AuthenticationError
from typing import TYPE_CHECKING

from pyflink_on_spark._cluster.transport.handshake import (
    Address,
    Endpoint,
    Listener,
    NetworkSettings,
    dial,
)
from pyflink_on_spark._options.own import HOSTS_ALLOWED
from pyflink_on_spark._spark.session.dependencies import ship_own_package, spark_settings
from pyflink_on_spark._spark.session.session import obtain_session, settings_ahead
from pyflink_on_spark._spark.session.spark_defaults import is_local
from pyflink_on_spark._spark.session.task_slots import driver_endpoint

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_log = logging.getLogger("pyflink_on_spark")
_OF_SPARK = f"spark.{HOSTS_ALLOWED.key}"
_TRIAL_SECONDS = 60.0
_tried: dict[str, str] = {}
"""The obstacles that trials have found, by the id of Spark's application."""


def ruled_out(configuration: Mapping[str, str]) -> str:
    """Return why settings rule out hosts; an empty text if they do not.

    Args:
        configuration: the job's.

    Raises:
        ValueError: a setting cannot be read.
    """
    rules = _rules(configuration, settings_ahead(spark_settings(configuration)))
    return next((f"{setting} is NO" for setting, rule in rules.items() if rule == "NO"), "")


def impossible(configuration: Mapping[str, str], *, long_running: bool) -> str:
    """Return why there can be no hosts; an empty text if there can be, or nobody knows.

    On a cluster a task tries it for the first job, unless the settings say that there can be.

    Args:
        configuration: the job's.
        long_running: as for ``obtain_session``.

    Raises:
        EnvironmentSetupError: there is no session.
        ValueError: a setting cannot be read.
    """
    if why := ruled_out(configuration):
        return why
    settings = spark_settings(configuration)
    ahead = settings_ahead(settings)
    if "YES" in _rules(configuration, ahead).values() or is_local(ahead.get("spark.master")):
        return ""
    session = obtain_session(settings, long_running=long_running)
    application = session.sparkContext.applicationId
    if application not in _tried:
        ship_own_package(session)
        found = _try(session, NetworkSettings.of(configuration))
        if found is None:
            return ""
        _tried[application] = found
        if found:
            _log.warning("Spark's tasks cannot be hosts here: one has tried it, and %s", found)
    return _tried[application]


def _rules(configuration: Mapping[str, str], of_spark: Mapping[str, str]) -> dict[str, str]:
    """Return the rule of the job and that of Spark's own settings, by the names of both."""
    given = {HOSTS_ALLOWED.key: of_spark[_OF_SPARK]} if _OF_SPARK in of_spark else {}
    return {
        HOSTS_ALLOWED.key: HOSTS_ALLOWED.read(configuration),
        _OF_SPARK: HOSTS_ALLOWED.read(given),
    }


@dataclass(frozen=True)
class Trial:
    """Tries in a task what a host has to do before anything else.

    Args:
        driver: where the driver listens.
        ports: those on which hosts listen.
    """

    driver: Address
    ports: tuple[int, ...]

    def __call__(self, numbers: Iterable[int]) -> Iterator[str]:
        """Return the first obstacle, for people; an empty text if there is none."""
        for _ in numbers:
            yield self._obstacle()

    def _obstacle(self) -> str:
        driver = self.driver
        try:
            wire = dial(driver)
        except (OSError, EOFError, AuthenticationError) as error:
            return f"it cannot reach the driver at {driver.host}:{driver.port} ({error!r})"
        try:
            here = wire.own_address()
            place = Endpoint(here, here, self.ports, driver.identity)
            Listener(place, driver.authkey, lambda caller: caller.hang_up(), "trial").close()
        except OSError as error:
            cause = error.__cause__
            taken = isinstance(cause, OSError) and cause.errno == errno.EADDRINUSE
            return "" if taken else f"it {error}"
        finally:
            wire.hang_up()
        return ""


def _try(session: SparkSession, network: NetworkSettings) -> str | None:
    """Let a task try it; return the obstacle, or None if no task could run."""
    context, tag = session.sparkContext, uuid.uuid4().hex
    endpoint = driver_endpoint(session, network.driver_ports)
    listener = Listener(endpoint, secrets.token_bytes(32), lambda wire: wire.hang_up(), "trial")
    trial = Trial(listener.address, network.host_ports)
    found: Future[str] = Future()

    def run() -> None:
        context.addJobTag(tag)
        context.setJobDescription("can a task be a host of a job?")
        try:
            (obstacle,) = context.parallelize([0], 1).mapPartitions(trial.__call__).collect()
            found.set_result(obstacle)
        except BaseException as error:  # noqa: BLE001 - what ails Spark, the job will tell
            found.set_exception(error)

    threading.Thread(target=run, name="trial of hosts", daemon=True).start()
    try:
        return found.result(_TRIAL_SECONDS)
    except Exception as error:  # noqa: BLE001 - no task has ended: this says nothing of hosts
        _log.debug("no task could try whether there can be hosts: %s", error)
        return None
    finally:
        if not found.done():
            with contextlib.suppress(Exception):
                context.cancelJobsWithTag(tag)
        listener.close()
