"""Turns what went wrong in a subtask into what the user has to know."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._compat.own_frames import user_traceback
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.contract.plan import OperatorPlan
from pyflink_on_spark._runtime.diagnosis.advice import advice
from pyflink_on_spark._runtime.diagnosis.blame import Culprit, culprit_of, escaped_stop
from pyflink_on_spark._runtime.types.errors import ConversionError

REPR_LIMIT = 300


class SubtaskFailure(PyFlinkOnSparkError, RuntimeError):
    """A subtask failed; the text says all about it: traceback, operator, place, record."""

    def __reduce__(self) -> tuple[Any, ...]:
        return SubtaskFailure, self.args


class Interruption(BaseException):
    """An engine ends a subtask, which has not failed."""


class Explained:
    """A context out of which everything that is raised comes as a SubtaskFailure.

    That is no ``contextmanager``: for one of those a StopIteration has a meaning.

    Args:
        explain: makes the failure.
    """

    __slots__ = ("_explain",)

    def __init__(self, explain: Callable[[BaseException], SubtaskFailure]) -> None:
        self._explain = explain

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None and not isinstance(error, (KeyboardInterrupt, Interruption)):
            raise self._explain(error) from error


def bounded_repr(value: Any, limit: int = REPR_LIMIT) -> str:
    """Return a repr of at most ``limit`` characters, even of objects whose repr fails."""
    shortener = reprlib.Repr()
    shortener.maxstring = shortener.maxother = shortener.maxlong = limit
    shortener.maxtuple = shortener.maxlist = shortener.maxdict = shortener.maxset = 20
    try:
        text = shortener.repr(value)
    except BaseException as error:  # noqa: BLE001 - a repr may raise anything
        text = f"<{type(value).__qualname__} object whose repr fails: {error}>"
    return text if len(text) <= limit else text[: limit - 3] + "..."


def describe_failure(
    error: BaseException,
    operators: Sequence[tuple[OperatorPlan, Operator]],
    subtask: str,
) -> SubtaskFailure:
    """Make the one error that leaves a subtask.

    Args:
        error: what was raised.
        operators: all operators of the subtask.
        subtask: its name, with index and parallelism.
    """
    culprit = culprit_of(error, operators)
    error = escaped_stop(error)
    obvious = culprit is not None and culprit.direct
    lines = [
        user_traceback(error, all_frames=not obvious).rstrip(),
        _place(culprit, subtask),
        _work(culprit, error),
        advice(error, culprit),
    ]
    return SubtaskFailure("\n".join(line for line in lines if line is not None))


def _place(culprit: Culprit | None, subtask: str) -> str:
    if culprit is None:
        return f"in task {subtask}"
    plan = culprit.plan
    added = f", added at {plan.call_site}" if plan.call_site else ""
    return f"in operator {plan.name!r}{added} (task {subtask})"


def _work(culprit: Culprit | None, error: BaseException) -> str | None:
    if culprit is None or culprit.subject is None:
        return None
    if isinstance(error, ConversionError) and not culprit.called:
        return None  # the error says what could not be converted
    kind, thing = culprit.subject
    of_key = f" of the key {bounded_repr(culprit.key[0])}" if culprit.key else ""
    if kind == "time":
        return f"while the timer at {thing}{of_key} fired"
    if kind == "window":
        return f"while it worked on {bounded_repr(thing)}{of_key}"
    return f"while it worked on {bounded_repr(thing)}"
