"""Runs programs on this project: in-process or on Spark, whole, cut or restarted anywhere."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pyflink_on_spark
from pyflink_on_spark.testing import local_engine
from tests.random_programs.here import WAYS, SomeRestarts, Way
from tests.random_programs.outcome import HANGS, Failure, Outcome
from tests.random_tables.generator import is_late
from tests.random_tables.program import Program
from tests.random_tables.running import run_here

_SECONDS_MORE = 30
"""A statement with several jobs takes longer than a program of one."""


class _TooLongError(BaseException):
    """No program's own handlers catch it."""


def outcome(program: Program, way: Way = WAYS["whole"]) -> Outcome:
    """Return the outcome of a program on this project."""
    pyflink_on_spark.install()
    rng = Random(program.seed)
    if any(map(is_late, program.tables)):
        way = replace(way, restarted=False)  # a restart sets event time back
    if way.cut:
        program = _cut(program, rng)
    program = program.with_(settings={**program.settings, **way.settings})
    with _engine(way, rng), _limited(way.seconds + _SECONDS_MORE * way.spark):
        try:
            return run_here(program)
        except _TooLongError:
            return Outcome(failure=Failure(HANGS))


@contextlib.contextmanager
def _engine(way: Way, rng: Random) -> Iterator[None]:
    if way.spark:
        yield
        return
    with local_engine(checkpoint_each_turn=way.cut) as engine:
        if way.restarted:
            engine._rule = SomeRestarts(rng)
        yield


def _cut(program: Program, rng: Random) -> Program:
    return program.with_(
        settings={
            **program.settings,
            "execution.checkpointing.interval": "10 ms",
            "pyflink-on-spark.checkpoint-elements": str(rng.randint(1, 4)),
            "restart-strategy.type": "none",
        }
    )


@contextlib.contextmanager
def _limited(seconds: int) -> Iterator[None]:
    def give_up(*_: object) -> None:
        raise _TooLongError

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
