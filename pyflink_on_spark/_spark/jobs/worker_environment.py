"""The environment of a Spark task, set up before user functions run."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from pyflink_on_spark._compat.import_hook import install, is_installed
from pyflink_on_spark._runtime.user_code.dependencies import in_use
from pyflink_on_spark._spark.session.dependencies import ShippedDependencies

late_variables: dict[str, str] = {}
"""Environment variables that the driver got after Spark had begun; workers do not inherit them."""
_YOUNG, _MIDDLE, _OLD = 50_000, 20, 50
_frozen_with = 0  # so many modules were loaded when objects were frozen


def tune_garbage_collection() -> None:
    """Let Python search for cycles after 50,000 new objects and not after 700, in new ones only.

    A bundle alone has more than those, and hardly ever a cycle among them: the searches took a
    tenth of the time of a job that counts words. PySpark's workers collect garbage after each task.
    So what lives when a task begins are mostly modules, which need no search.
    """
    global _frozen_with  # noqa: PLW0603 - of the process
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)
    if len(sys.modules) > _frozen_with:
        gc.freeze()
        _frozen_with = len(sys.modules)


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
