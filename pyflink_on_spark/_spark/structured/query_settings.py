"""The settings of Spark with which queries keep state, and with which the state is read."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UNIQUE_FILES = {"spark.sql.streaming.stateStore.checkpointFormatVersion": "2"}
"""The format in which each run of a task has its own files, and a commit names those that count.

In format 1 the second run of a micro-batch writes files of the same names. Some file systems keep
the files of the first run, which has failed and had other elements.
"""
STORE_SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming."
    "state.RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    **UNIQUE_FILES,
    "spark.sql.streaming.minBatchesToRetain": "10",
    "spark.sql.streaming.stopTimeout": "120s",
    "spark.sql.streaming.numRecentProgressUpdates": "10",
}
changes = threading.RLock()
"""The lock on the settings of a session, which its holder changes or relies on."""


@contextlib.contextmanager
def meanwhile(session: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Let a session have settings, which a query that starts there copies.

    A query of another session would be unseen by the listeners of the user's. On Spark Connect
    there is one session for all, also where state is read.
    """
    with changes:
        before = session.conf.getAll
        try:
            for key, value in settings.items():
                session.conf.set(key, value)
            yield
        finally:
            for key in settings:
                if key in before:
                    session.conf.set(key, before[key])
                else:
                    session.conf.unset(key)
