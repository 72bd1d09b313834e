"""Jobs as an engine gets them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from pyflink_on_spark._job.job import Engine, Job, install_engine, installed_engine


class _Noting:
    def __init__(self) -> None:
        self.job: Job | None = None

    def submit(self, job: Job) -> Any:
        self.job = job
        raise _Noted


class _Noted(Exception):
    pass


def submitted(stream: Any) -> Job:
    """Return the job that collects a stream; it does not run."""
    noting = _Noting()
    with contextlib.suppress(_Noted):
        results_of(stream, noting)
    assert noting.job is not None
    return noting.job


def executed(env: Any) -> Job:
    """Return the job that an environment would execute; it does not run."""
    return noted(env.execute_async)


def noted(submit: Callable[[], object]) -> Job:
    """Return the job that a call submits; it does not run."""
    noting, before = _Noting(), installed_engine()
    install_engine(noting)
    try:
        with contextlib.suppress(_Noted):
            submit()
    finally:
        install_engine(before)
    assert noting.job is not None
    return noting.job


def results_of(stream: Any, engine: Engine) -> list[Any]:
    """Return the elements that an engine collects from a stream."""
    before = installed_engine()
    install_engine(engine)
    try:
        with stream.execute_and_collect() as results:
            return list(results)
    finally:
        install_engine(before)
