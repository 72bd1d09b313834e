"""Log records of user functions, on their way from a worker to the driver's log."""

from __future__ import annotations

import logging
import sys
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from types import FrameType

from pyflink_on_spark._options.flink import level_number
from pyflink_on_spark._options.python import LOGGING_LEVEL, LOGGING_LEVELS
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.operators.function_loop import step_of

LOGS = "logs"
"""The name of the channel to the driver."""
FUNCTIONS = "pyflink_on_spark.functions"
"""The driver's logger of what user functions log."""
_MOST = 10_000
_ROOT = "root"
_OWNERS = ("self", "owner")
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
    owners = (frame.f_locals.get(name) for name in _OWNERS)
    return next((each for each in owners if isinstance(each, Operator)), None)
