"""Starts slot hosts where Spark's executors are."""

from __future__ import annotations

import contextlib
import json
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import AuthenticationError

import pyarrow as pa
from pyspark.sql import SparkSession

from pyflink_on_spark._compat.import_hook import is_installed
from pyflink_on_spark._runtime.user_code.worker_dependencies import search_path, working_folder
from pyflink_on_spark._spark.session.dependencies import ShippedDependencies
from pyflink_on_spark._spark.session.spark_defaults import PACKAGE_ROOT, is_local
from pyflink_on_spark._spark.transport.handshake import Address
from pyflink_on_spark._spark.transport.rpc import HostLost, connect

_MODULE = "pyflink_on_spark._spark.hosts.host"
_BEGIN = f"import sys, json; sys.path[:] = json.loads(sys.argv[1]); import {_MODULE} as h; h.main()"


@dataclass(frozen=True)
class Spawn:
    """Starts a slot host for each row; what ``mapInArrow`` calls.

    Args:
        driver: where hosts call in.
        sys_path: where the driver finds modules, for the user's own.
        aliased: whether ``pyflink`` is this package in the driver.
        dependencies: what the job takes along.
    """

    driver: Address
    sys_path: tuple[str, ...]
    aliased: bool
    dependencies: ShippedDependencies

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Start hosts; nothing comes out."""
        for batch in batches:
            for slot in batch.column(0).to_pylist():
                self.start(slot, sys.executable)
            yield batch.slice(0, 0)

    def start(self, slot: int, interpreter: str) -> None:
        """Start one host on this machine."""
        folders = self.dependencies.here()
        known = [*search_path(folders), *sys.path]
        others = (*self.sys_path, str(PACKAGE_ROOT))
        path = json.dumps([*known, *(entry for entry in others if entry not in known)])
        host = subprocess.Popen(
            [interpreter, "-c", _BEGIN, path],
            cwd=working_folder(folders),
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        assert host.stdin is not None
        folders = self.dependencies.here()
        start = (slot, self.driver, self.sys_path, self.aliased, folders)
        host.stdin.write(pickle.dumps(start))
        host.stdin.close()
        name = f"host of slot {slot}"
        threading.Thread(target=self._watch, args=(host, slot), name=name, daemon=True).start()

    def _watch(self, host: subprocess.Popen[bytes], slot: int) -> None:
        """Wait for a host; tell a driver that still waits for it to call in."""
        code = host.wait()
        with contextlib.suppress(HostLost, AuthenticationError):
            wire = connect(self.driver, "the driver")
            wire.send(slot, None, code)
            wire.close()


def spawn_hosts(
    session: SparkSession, driver: Address, slots: int, dependencies: ShippedDependencies
) -> None:
    """Start slot hosts, spread over the executors.

    Args:
        session: Spark.
        driver: where hosts call in.
        slots: how many.
        dependencies: what the job takes along.
    """
    start = Spawn(driver, tuple(sys.path), is_installed(), dependencies)
    if is_local(session.sparkContext.master):
        for slot in range(slots):  # the executor is here
            start.start(slot, session.sparkContext.pythonExec)
        return
    rows = session.range(0, slots, 1, slots).select("id")
    rows.mapInArrow(start.__call__, "id LONG").collect()
