"""Runs programs on this project: in-process or on Spark, whole, cut or restarted anywhere."""

from __future__ import annotations

import contextlib
import io
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import pyflink_on_spark
from pyflink_on_spark.testing import local_engine
from tests.random_programs.outcome import HANGS, Failure, Outcome
from tests.random_programs.program import Program
from tests.random_programs.running import run
from tests.structured import restarting

SECONDS = 20
SECONDS_ON_SPARK = 90
"""A cut job of some hundred elements makes as many checkpoints."""
SECONDS_OF_QUERIES = 240
_WATERMARK_INTERVAL = "pipeline.auto-watermark-interval"


@dataclass(frozen=True)
class Way:
    """A way to run programs.

    Args:
        cut: whether their input is cut into pieces, with a checkpoint after each.
        restarted: whether they start again from some of these checkpoints; those do not whose
            watermarks come before the end of input.
        spark: whether they run on Spark, and not in this process.
        settings: what chooses the engine there; with some, a job is a query.
    """

    cut: bool = False
    restarted: bool = False
    spark: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def seconds(self) -> int:
        """How long a program may take."""
        if self.settings:
            return SECONDS_OF_QUERIES
        return SECONDS_ON_SPARK if self.spark else SECONDS


_STRUCTURED = {"pyflink-on-spark.engine": "structured"}
_CONNECT = {"spark.remote": "local[2]"}
WAYS = {
    "whole": Way(),
    "cut": Way(cut=True),
    "restarted": Way(cut=True, restarted=True),
    "spark": Way(spark=True),
    "continuous": Way(cut=True, spark=True),
    "structured": Way(spark=True, settings=_STRUCTURED),
    "structured-cut": Way(cut=True, spark=True, settings=_STRUCTURED),
    "structured-restarted": Way(cut=True, restarted=True, spark=True, settings=_STRUCTURED),
    "connect": Way(spark=True, settings=_CONNECT),
    "connect-cut": Way(cut=True, spark=True, settings=_CONNECT),
    "connect-restarted": Way(cut=True, restarted=True, spark=True, settings=_CONNECT),
}
"""All of them; a process that has run one on a classic Spark cannot run one on Connect."""


class _TooLongError(BaseException):
    """No program's own handlers catch it."""


def outcome(program: Program, way: Way = WAYS["whole"]) -> Outcome:
    """Return the outcome of a program on this project."""
    pyflink_on_spark.install()
    rng = Random(program.seed)
    prepared = _cut(program, rng) if way.cut else program
    if _has_early_watermarks(program):
        way = replace(way, restarted=False)  # a restart sets event time back
    prepared = prepared.with_(settings={**prepared.settings, **way.settings})
    with _engine(way, rng), _limited(way.seconds):
        try:
            return run(prepared, _environment, _printed, "p")
        except _TooLongError:
            return Outcome(failure=Failure(HANGS))


@contextlib.contextmanager
def _engine(way: Way, rng: Random) -> Iterator[None]:
    if way.spark:
        with restarting.restarted_queries(lambda: rng, restarting.MOST if way.restarted else 0):
            yield
        return
    with local_engine(checkpoint_each_turn=way.cut) as engine, _short_pauses():
        if way.restarted:
            engine._rule = SomeRestarts(rng)
        yield


@contextlib.contextmanager
def _short_pauses() -> Iterator[None]:
    """Shorten the pauses of paced programs: no watermark waits for other processes here."""
    sleep = time.sleep
    time.sleep = lambda seconds: sleep(seconds / 10)
    try:
        yield
    finally:
        time.sleep = sleep


class SomeRestarts:
    """A rule of checkpoints: one each turn, and a restart from about every other one."""

    each_turn = True

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    @property
    def restart(self) -> bool:
        return self._rng.random() < 0.5


def _has_early_watermarks(program: Program) -> bool:
    """True if watermarks precede the end of input."""
    return program.settings.get(_WATERMARK_INTERVAL, "").endswith(" ms")


def _cut(program: Program, rng: Random) -> Program:
    often = _has_early_watermarks(program)
    return program.with_(
        settings={
            **program.settings,
            # Otherwise a watermark comes after each piece.
            _WATERMARK_INTERVAL: program.settings[_WATERMARK_INTERVAL] if often else "0 ms",
            "execution.checkpointing.interval": "10 ms",
            "pyflink-on-spark.checkpoint-elements": str(rng.randint(1, 4)),
            "restart-strategy.type": "none",
        }
    )


def _environment() -> Any:
    from pyflink.datastream import StreamExecutionEnvironment

    return StreamExecutionEnvironment.get_execution_environment()


def _printed(execute: Callable[[], None]) -> list[str]:
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        execute()
    return text.getvalue().splitlines()


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
