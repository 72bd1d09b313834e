"""Runs programs on this project, in-process."""

from __future__ import annotations

import contextlib
import io
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pyflink_on_spark
from pyflink_on_spark.testing import local_engine
from tests.random_programs.outcome import HANGS, Failure, Outcome
from tests.random_programs.program import Program
from tests.random_programs.running import run

_SECONDS = 20


class _TooLongError(BaseException):
    """No program's own handlers catch it."""


def outcome(program: Program) -> Outcome:
    """Return what a program gives in this process."""
    pyflink_on_spark.install()
    with local_engine(), _limited():
        try:
            return run(program, _environment, _printed, "p")
        except _TooLongError:
            return Outcome(failure=Failure(HANGS))


def _environment() -> Any:
    from pyflink.datastream import StreamExecutionEnvironment

    return StreamExecutionEnvironment.get_execution_environment()


def _printed(execute: Callable[[], None]) -> list[str]:
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        execute()
    return text.getvalue().splitlines()


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    def give_up(*_: object) -> None:
        raise _TooLongError

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
