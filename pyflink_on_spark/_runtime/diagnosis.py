"""Failures of users' functions as messages, and what functions log, on its way to the driver."""

from __future__ import annotations

import logging
import re
import reprlib
import sys
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import FrameType, TracebackType
from typing import Any

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._compat.own_frames import is_own, user_traceback
from pyflink_on_spark._options.flink import level_number
from pyflink_on_spark._options.python import LOGGING_LEVEL, LOGGING_LEVELS
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.contract.plan import OperatorPlan
from pyflink_on_spark._runtime.elements.immutability import unwrap_key
from pyflink_on_spark._runtime.operators.function_loop import step_of
from pyflink_on_spark._runtime.state.backend import NO_KEY, NoKey
from pyflink_on_spark._runtime.types.codec import ConversionError, NullValueError

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
    subject: tuple[str, object] | None = None
    key: tuple[object, ...] = ()
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
    """Return the operator that failed, or None where the traceback does not show it.

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


def worker_of(
    frames: Iterable[tuple[FrameType, int]], operators: Sequence[tuple[OperatorPlan, Operator]]
) -> Culprit | None:
    """The operator at work in the frames of a thread; None where they do not show it.

    Args:
        frames: the frames with their lines, from the outside in.
        operators: all operators of the subtask.
    """
    search = _Search(operators)
    for frame, line in frames:
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
            operator, value, key = step
            keys = tuple(map(unwrap_key, key)) if operator.keyed else ()
            self._take(self._plans[id(operator)], ("value", value), keys)
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

    def _owner(self, variables: Mapping[str, object]) -> OperatorPlan | None:
        owners = (self._plans.get(id(variables.get(name))) for name in _OWNERS)
        return next((plan for plan in owners if plan is not None), None)

    def _enter(self, chain: OperatorLine) -> None:
        """Blame the last operator of a chain, which has emitted the element."""
        if chain is self._chain or not chain.operators:
            return
        self._sender = None if self._chain is None else self._last_of(self._chain)
        self._chain = chain
        self._take(self._last_of(chain), None, ())

    def _last_of(self, chain: OperatorLine) -> OperatorPlan:
        return self._plans[id(chain.operators[-1])]

    def _take(
        self, plan: OperatorPlan, subject: tuple[str, object] | None, key: tuple[object, ...]
    ) -> None:
        before = None
        line = [] if self._chain is None else self._chain.operators
        if plan.operator in line:
            upstream = line[: line.index(plan.operator)]
            before = self._plans[id(upstream[-1])] if upstream else self._sender
        self.found = Culprit(plan, subject, key, before=before)


def _subject(variables: Mapping[str, object]) -> tuple[str, object] | None:
    return next(((name, variables[name]) for name in _SUBJECTS if name in variables), None)


def _key(plan: OperatorPlan, variables: Mapping[str, object]) -> tuple[object, ...]:
    if not plan.operator.keyed:
        return ()
    backend = getattr(variables.get("self"), "_backend", None)
    key = variables.get("key", getattr(backend, "key", NO_KEY))
    return () if isinstance(key, NoKey) else (unwrap_key(key),)


_NOT_ITERABLE = re.compile(r"'(\w+)' object is not iterable")


def advice(error: BaseException, culprit: Culprit | None) -> str | None:
    """Return a line to stand below an error; None for most."""
    if isinstance(error, StopIteration):
        return (
            "next() raises StopIteration when an iterator is exhausted: give it a default, as in "
            "next(iterator, None), or catch it"
        )
    if culprit is None:
        return None
    if isinstance(error, NullValueError):
        return f"did the function of {culprit.plan.name!r} return nothing?"
    if isinstance(error, TypeError) and culprit.direct:
        return _about_results(str(error), culprit)
    if isinstance(error, (TypeError, AttributeError)) and "'NoneType'" in str(error):
        return _about_none(culprit)
    return None


def _about_results(message: str, culprit: Culprit) -> str | None:
    found = _NOT_ITERABLE.search(message)
    if found is None:
        return None
    returned = "nothing" if found[1] == "NoneType" else f"an object of type {found[1]}"
    return (
        f"the function of {culprit.plan.name!r} returned {returned}: let it yield its results, or "
        "return a list of them"
    )


def _about_none(culprit: Culprit) -> str | None:
    kind, thing = culprit.subject or ("", "")
    if kind != "value" or thing is not None:
        return None
    before = culprit.before
    if before is None:
        return "the element is None: did the function before return nothing?"
    place = f", added at {before.call_site}," if before.call_site else ""
    return f"the element is None: did the function of {before.name!r}{place} return nothing?"


REPR_LIMIT = 300


class SubtaskFailure(PyFlinkOnSparkError, RuntimeError):
    """A subtask failed; the text says all about it: traceback, operator, place, record."""

    def __reduce__(self) -> tuple[object, ...]:
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


def bounded_repr(value: object, limit: int = REPR_LIMIT) -> str:
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


_PLACE = re.compile(r"in (?:operator|task) .*")
_FRAME = re.compile(r"  File \".*\", line \d+")


def gist_of(text: str) -> str:
    """The line of an error's text that names the exception.

    Args:
        text: of any error; below that of a subtask are its place and its element.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines or not lines[0].startswith("Traceback"):
        return lines[0] if lines else ""
    ends = [number for number, line in enumerate(lines) if _PLACE.fullmatch(line)]
    lines = lines[: ends[-1]] if ends else lines
    frames = [number for number, line in enumerate(lines) if _FRAME.match(line)]
    below = lines[frames[-1] :] if frames else lines[-1:]
    return next((line for line in below if not line.startswith("  ")), lines[-1])


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


LOGS = "logs"
"""The name of the channel to the driver."""
FUNCTIONS = "pyflink_on_spark.functions"
"""The driver's logger of what user functions log."""
_MOST = 10_000
_ROOT = "root"
_OWNERS_OF_LOGS = ("self", "owner")
_driver_log = logging.getLogger(FUNCTIONS)


class LogPlace(ABC):
    """The base of a class that calls functions and names the place of what they log."""

    @abstractmethod
    def place_of(self, operator: Operator | None) -> str:
        """Return the name of an operator, or of everything here, with the subtask's number."""


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A log record of a worker.

    Args:
        time: in s since the epoch.
        level: its number.
        logger: the name of the function's logger.
        message: the text, with the traceback if there is one.
        where: the operator and the subtask, for example ``parse (2/3)``; empty if unknown.
    """

    time: float
    level: int
    logger: str
    message: str
    where: str


class FunctionLog(logging.Handler):
    """Keeps this process's log records until they are taken; of too many only the last.

    Attributes:
        dropped: how many entries were lost since they were last taken.
    """

    def __init__(self) -> None:
        super().__init__()
        self._entries: deque[LogEntry] = deque(maxlen=_MOST)
        self._lost = 0
        self._pending = threading.Lock()

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        try:
            where = _where(sys._getframe(1))
            entry = LogEntry(
                record.created, record.levelno, record.name, self.format(record), where
            )
        except Exception:  # noqa: BLE001 - a bad format fails no function
            self.handleError(record)
            return
        with self._pending:
            self._lost += len(self._entries) == _MOST
            self._entries.append(entry)

    def take(self) -> list[LogEntry]:
        """Return the records that were logged since the last call."""
        if not self._entries:
            return []
        with self._pending:
            taken, lost = list(self._entries), self._lost
            self._entries.clear()
            self._lost = 0
        if lost:
            text = f"{lost} records before this one were lost: too much is logged"
            first = taken[0]
            taken.insert(0, LogEntry(first.time, logging.WARNING, FUNCTIONS, text, ""))
        return taken


def install_function_log(configuration: Mapping[str, str]) -> FunctionLog:
    """Keep log records of this process, at the levels of a job's configuration.

    Args:
        configuration: has ``python.logging.default.level`` and ``python.logging.level.overrides``.
    """
    level = level_number(LOGGING_LEVEL.read(configuration))
    levels = _levels_by_name(configuration)
    root = logging.getLogger()
    found = next((each for each in root.handlers if isinstance(each, FunctionLog)), None)
    log = found or FunctionLog()
    if found is None:
        root.addHandler(log)
    root.setLevel(level)
    for name, each in levels.items():
        logging.getLogger(name).setLevel(each)
    return log


class DriverLog:
    """Logs in the driver what functions have logged in workers.

    An entry is logged if the level of the driver's logger allows the entry, or if the job's
    configuration asks for the entry with a level of its own.

    Args:
        configuration: the job's configuration.
    """

    def __init__(self, configuration: Mapping[str, str]) -> None:
        self._levels = _levels_by_name(configuration)
        if LOGGING_LEVEL.key in configuration:
            self._levels[_ROOT] = level_number(LOGGING_LEVEL.read(configuration))

    def __call__(self, entries: list[LogEntry]) -> None:
        """Log entries of a worker."""
        for entry in entries:
            if _driver_log.isEnabledFor(entry.level) or self._is_asked_for(entry):
                where = f"[{entry.where}] " if entry.where else ""
                name = "" if entry.logger == _ROOT else f"{entry.logger}: "
                record = _driver_log.makeRecord(
                    FUNCTIONS, entry.level, "", 0, f"{where}{name}{entry.message}", (), None
                )
                record.created, record.msecs = entry.time, entry.time % 1 * 1000
                _driver_log.handle(record)

    def _is_asked_for(self, entry: LogEntry) -> bool:
        if not self._levels:
            return False
        name = entry.logger
        while name and name not in self._levels:
            name = name.rpartition(".")[0]
        asked = self._levels.get(name or _ROOT)
        return asked is not None and entry.level >= asked


def _levels_by_name(configuration: Mapping[str, str]) -> dict[str, int]:
    return {name: level_number(level) for name, level in LOGGING_LEVELS.read(configuration).items()}


def _where(frame: FrameType | None) -> str:
    """Return the operator and the subtask whose frames called."""
    operator: Operator | None = None
    while frame is not None:
        if operator is None:
            operator = _operator_of(frame)
        owner = frame.f_locals.get("self")
        if isinstance(owner, LogPlace):
            return owner.place_of(operator)
        frame = frame.f_back
    return ""


def _operator_of(frame: FrameType) -> Operator | None:
    step = step_of(frame, frame.f_lineno)
    if step is not None:
        return step[0]
    owners = (frame.f_locals.get(name) for name in _OWNERS_OF_LOGS)
    return next((each for each in owners if isinstance(each, Operator)), None)
