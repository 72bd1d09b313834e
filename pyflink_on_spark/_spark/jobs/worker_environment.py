"""The environment of a job's functions in a worker, and what is the same for all of a worker."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from pyflink_on_spark._compat.import_hook import install, is_installed
from pyflink_on_spark._runtime.elements.bundle import tune_garbage_collection
from pyflink_on_spark._runtime.user_code import in_use
from pyflink_on_spark._spark.session.dependencies import ShippedDependencies

FAILURE_BEGINS, FAILURE_ENDS = "\u2063<subtask failure>", "</subtask failure>\u2063"
late_variables: dict[str, str] = {}
"""Environment variables that the driver got after Spark had begun; workers do not inherit them."""
_OLDEST = 2  # the generation of a whole collection
_frozen_with = 0  # so many modules were loaded when objects were frozen


def freeze_modules() -> None:
    """Take the objects that live already out of Python's search for cycles.

    PySpark's workers collect garbage after each task. So what lives when a task begins are mostly
    modules, which need no search. Call it before a task makes anything of its job: what is frozen
    is never freed if a cycle leads to it, nor is all that it refers to.
    """
    global _frozen_with  # noqa: PLW0603 - of the process
    if len(sys.modules) > _frozen_with:
        gc.freeze()
        _frozen_with = len(sys.modules)


def call_after_task(call: Callable[[], object]) -> None:
    """Call something when PySpark collects garbage after the task; the driver does not wait."""

    def before_collection(phase: str, info: dict[str, int]) -> None:
        if phase == "start" and info["generation"] == _OLDEST:
            gc.callbacks.remove(before_collection)
            call()

    gc.callbacks.append(before_collection)


@contextlib.contextmanager
def refused_exit() -> Iterator[None]:
    """Let ``os._exit`` raise SystemExit, so that the job's error says who called it.

    Processes that a function forks end as they want.
    """
    leave, worker = os._exit, os.getpid()

    def refuse(status: int) -> NoReturn:
        if os.getpid() == worker:
            raise SystemExit(f"os._exit({status}) was called, which would end the worker process")
        leave(status)

    os._exit = refuse
    try:
        yield
    finally:
        os._exit = leave


@dataclass(frozen=True)
class WorkerEnvironment:
    """The environment of a job's functions; travels inside a task.

    Args:
        sys_path: where the driver finds modules.
        aliased: whether ``pyflink`` is this package in the driver.
        dependencies: what the job takes along.
        variables: environment variables that workers do not inherit.
    """

    sys_path: tuple[str, ...]
    aliased: bool
    dependencies: ShippedDependencies
    variables: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_driver(cls, dependencies: ShippedDependencies) -> WorkerEnvironment:
        """Return the environment of this process, for its workers."""
        return cls(tuple(sys.path), is_installed(), dependencies, dict(late_variables))

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Set up the environment, and undo afterwards as much as possible."""
        tune_garbage_collection()
        os.environ.update(self.variables)
        for folder in self.sys_path:
            if folder not in sys.path:
                sys.path.append(folder)
        if self.aliased:
            install()
        with in_use(self.dependencies.here()), refused_exit():
            yield
