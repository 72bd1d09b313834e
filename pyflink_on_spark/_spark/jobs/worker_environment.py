"""What a Spark task sets up before it runs a user's functions."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from pyflink_on_spark._compat.import_hook import install, is_installed
from pyflink_on_spark._runtime.user_code.refused_exit import refused_exit
from pyflink_on_spark._runtime.user_code.worker_dependencies import in_use
from pyflink_on_spark._spark.jobs.gc_tuning import tune_garbage_collection
from pyflink_on_spark._spark.session.dependencies import ShippedDependencies


@dataclass(frozen=True)
class WorkerEnvironment:
    """The environment of a job's functions; travels inside a task.

    Args:
        sys_path: where the driver finds modules.
        aliased: whether ``pyflink`` is this package in the driver.
        dependencies: what the job takes along.
    """

    sys_path: tuple[str, ...]
    aliased: bool
    dependencies: ShippedDependencies

    @classmethod
    def of_driver(cls, dependencies: ShippedDependencies) -> WorkerEnvironment:
        """Return what corresponds to this process."""
        return cls(tuple(sys.path), is_installed(), dependencies)

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Set it up; what can be undone is undone."""
        tune_garbage_collection()
        for folder in self.sys_path:
            if folder not in sys.path:
                sys.path.append(folder)
        if self.aliased:
            install()
        with in_use(self.dependencies.here()), refused_exit():
            yield
