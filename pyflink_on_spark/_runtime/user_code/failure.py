"""Turns what went wrong in a subtask into what the user has to know."""

from __future__ import annotations

import os
import reprlib
import traceback
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._runtime.operators.boundary import ConvertOperator
from pyflink_on_spark._runtime.operators.operator import Operator
from pyflink_on_spark._runtime.task.plan import OperatorPlan
from pyflink_on_spark._runtime.types.errors import ConversionError
from pyflink_on_spark._runtime.user_code.user_function import code_of

_PACKAGE_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
REPR_LIMIT = 300


class SubtaskFailure(PyFlinkOnSparkError, RuntimeError):
    """A subtask failed; the text says all about it: traceback, operator, place, record."""

    def __reduce__(self) -> tuple[Any, ...]:
        return SubtaskFailure, self.args


def bounded_repr(value: Any, limit: int = REPR_LIMIT) -> str:
    """Return a repr of at most ``limit`` characters, even of objects whose repr fails."""
    shortener = reprlib.Repr()
    shortener.maxstring = shortener.maxother = shortener.maxlong = limit
    shortener.maxtuple = shortener.maxlist = shortener.maxdict = shortener.maxset = 20
    try:
        text = shortener.repr(value)
    except Exception as error:  # noqa: BLE001 - a repr may raise anything
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
    found = _misdeclared(error, operators) or _blamed(error.__traceback__, list(operators))
    lines = [user_traceback(error).rstrip()]
    if found is not None:
        plan, record = found
        place = f", added at {plan.call_site}" if plan.call_site else ""
        lines.append(f"in operator {plan.name!r}{place} (task {subtask})")
        if record:
            lines.append(f"while it worked on {bounded_repr(record[0])}")
    else:
        lines.append(f"in task {subtask}")
    return SubtaskFailure("\n".join(lines))


def user_traceback(error: BaseException) -> str:
    """Return the traceback without this package's own frames.

    An error with no other frames keeps them, unless it speaks of the user's data.
    """
    whole = traceback.TracebackException.from_exception(error)
    part: traceback.TracebackException | None = whole
    while part is not None:
        frames = [f for f in part.stack if not f.filename.startswith(_PACKAGE_FOLDER)]
        if frames or isinstance(error, ConversionError):
            part.stack = traceback.StackSummary.from_list(frames)
        part = part.__cause__ or part.__context__
    if not whole.stack:
        return "".join(whole.format_exception_only())
    return "".join(whole.format())


def _misdeclared(
    error: BaseException, operators: Sequence[tuple[OperatorPlan, Operator]]
) -> tuple[OperatorPlan, list[Any]] | None:
    """Return the operator whose declared type a value did not fit, if there is only one of it."""
    if not isinstance(error, ConversionError):
        return None
    suspects = [
        plan
        for plan, operator in operators
        if isinstance(operator, ConvertOperator) and operator.declares(error.declared)
    ]
    return (suspects[0], []) if len(suspects) == 1 else None


def _blamed(
    trace: TracebackType | None, operators: list[tuple[OperatorPlan, Operator]]
) -> tuple[OperatorPlan, list[Any]] | None:
    by_code = {
        code_of(function): plan
        for plan, operator in operators
        for function in operator.code_of_functions()
        if code_of(function) is not None
    }
    by_operator = {id(operator): plan for plan, operator in operators}
    last: tuple[OperatorPlan, list[Any]] | None = None
    while trace is not None:
        frame = trace.tb_frame
        plan = by_code.get(frame.f_code)
        if plan is not None:
            return plan, _first_argument(frame)
        owner = by_operator.get(id(frame.f_locals.get("self")))
        if owner is not None:
            last = owner, [frame.f_locals["value"]] if "value" in frame.f_locals else []
        trace = trace.tb_next
    return last


def _first_argument(frame: Any) -> list[Any]:
    names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
    for name in names:
        if name not in ("self", "cls") and name in frame.f_locals:
            return [frame.f_locals[name]]
    return []
