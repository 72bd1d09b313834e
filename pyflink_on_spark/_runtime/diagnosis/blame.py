"""Finds out which operator failed, and what it was working on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

from pyflink_on_spark._compat.own_frames import is_own
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.contract.plan import OperatorPlan
from pyflink_on_spark._runtime.elements.keys import unwrap_key
from pyflink_on_spark._runtime.operators.function_loop import step_of
from pyflink_on_spark._runtime.state.no_key import NO_KEY

_OWNERS = ("self", "codec", "owner")
"""Names of variables that tell to which operator a frame belongs."""

_SUBJECTS = ("value", "window", "time")
"""Names of variables that hold the element a frame works on."""


class OperatorLine:
    """The base of a class that runs operators in a line and appears as ``self`` in a traceback."""

    operators: list[Operator]
    """The first to last of the operators."""


@dataclass(frozen=True)
class Culprit:
    """The operator that was at work when something was raised.

    Args:
        plan: the operator.
        subject: what it worked on: a pair of ``value``, ``window`` or ``time`` and that. None if
            it is not known.
        key: the key of the subject, as the only one of a tuple; empty if it has none.
        called: whether the error comes out of code that is not this package's.
        direct: whether it was raised right where the operator calls a function or uses its result.
        before: the operator that the elements come from, if it is in the same subtask.
    """

    plan: OperatorPlan
    subject: tuple[str, Any] | None = None
    key: tuple[Any, ...] = ()
    called: bool = False
    direct: bool = True
    before: OperatorPlan | None = None


def escaped_stop(error: BaseException) -> BaseException:
    """Return the StopIteration of which Python has made a RuntimeError outside the user's code."""
    cause = error.__cause__
    if not isinstance(error, RuntimeError) or not isinstance(cause, StopIteration):
        return error
    outside = all(is_own(frame.f_code.co_filename) for frame, _ in _frames(error))
    return cause if outside else error


def culprit_of(
    error: BaseException, operators: Sequence[tuple[OperatorPlan, Operator]]
) -> Culprit | None:
    """Return what was at work; None if that cannot be found out.

    Operators downstream are on the outside of a traceback, since they ask those upstream for
    elements. So the innermost operator is the one.
    """
    search = _Search(operators)
    for frame, line in _frames(error):
        search.look_at(frame, line)
    stop = escaped_stop(error)
    if stop is not error:
        for frame, line in _frames(stop):
            search.look_at(frame, line)
    return search.found


def _frames(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


class _Search:
    """Goes through a traceback, from the outside in."""

    def __init__(self, operators: Sequence[tuple[OperatorPlan, Operator]]) -> None:
        self.found: Culprit | None = None
        self._chain: OperatorLine | None = None
        self._sender: OperatorPlan | None = None
        self._plans: dict[int, OperatorPlan] = {}
        for plan, operator in operators:
            for part in (operator, *operator.parts()):
                self._plans[id(part)] = plan

    def look_at(self, frame: FrameType, line: int) -> None:
        """Take the operator whose frame it is, or learn more about the one that was found."""
        if not is_own(frame.f_code.co_filename):
            self._go_deeper(called=True)
            return
        step = step_of(frame, line)
        variables = frame.f_locals
        if step is not None:
            self._take(self._plans[id(step[0])], ("value", step[1]), ())
        elif isinstance(variables.get("self"), OperatorLine):
            self._enter(variables["self"])
        elif (plan := self._owner(variables)) is not None:
            self._take(plan, _subject(variables), _key(plan, variables))
        elif self.found is not None and (self.found.called or self.found.subject):
            self._go_deeper()
        else:
            self._go_deeper(subject=_subject(variables))

    def _go_deeper(self, **learnt: Any) -> None:
        if self.found is not None:
            self.found = replace(self.found, direct=False, **learnt)

    def _owner(self, variables: Mapping[str, Any]) -> OperatorPlan | None:
        owners = (self._plans.get(id(variables.get(name))) for name in _OWNERS)
        return next((plan for plan in owners if plan is not None), None)

    def _enter(self, chain: OperatorLine) -> None:
        """Blame the last operator of a chain, which has emitted what the chain hands on."""
        if chain is self._chain or not chain.operators:
            return
        self._sender = None if self._chain is None else self._last_of(self._chain)
        self._chain = chain
        self._take(self._last_of(chain), None, ())

    def _last_of(self, chain: OperatorLine) -> OperatorPlan:
        return self._plans[id(chain.operators[-1])]

    def _take(
        self, plan: OperatorPlan, subject: tuple[str, Any] | None, key: tuple[Any, ...]
    ) -> None:
        before = None
        line = [] if self._chain is None else self._chain.operators
        if plan.operator in line:
            upstream = line[: line.index(plan.operator)]
            before = self._plans[id(upstream[-1])] if upstream else self._sender
        self.found = Culprit(plan, subject, key, before=before)


def _subject(variables: Mapping[str, Any]) -> tuple[str, Any] | None:
    return next(((name, variables[name]) for name in _SUBJECTS if name in variables), None)


def _key(plan: OperatorPlan, variables: Mapping[str, Any]) -> tuple[Any, ...]:
    if not plan.operator.keyed:
        return ()
    backend = getattr(variables.get("self"), "_backend", None)
    key = variables.get("key", getattr(backend, "key", NO_KEY))
    return () if key is NO_KEY else (unwrap_key(key),)
