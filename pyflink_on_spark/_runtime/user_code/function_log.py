"""What user functions log in a worker, on its way to the driver's log."""

from __future__ import annotations

import logging
import sys
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from types import FrameType

from pyflink_on_spark._runtime.operators.function_loop import step_of
from pyflink_on_spark._runtime.operators.operator import Operator
from pyflink_on_spark._runtime.task.subtask import Subtask
from pyflink_on_spark.common._options.operation import level_number
from pyflink_on_spark.common._options.python import LOGGING_LEVEL, LOGGING_LEVELS

LOGS = "logs"
"""The name of the channel to the driver."""
FUNCTIONS = "pyflink_on_spark.functions"
"""The driver's logger of what user functions log."""
_MOST = 10_000
_OWNERS = ("self", "owner")
_driver_log = logging.getLogger(FUNCTIONS)


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
    """Keeps what is logged in this process until it is taken; of too much only the last.

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
        """Return what was logged since the last time."""
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
    """Keep what is logged in this process, at the levels of a job's configuration.

    Args:
        configuration: has ``python.logging.default.level`` and ``python.logging.level.overrides``.
    """
    level = level_number(LOGGING_LEVEL.read(configuration))
    levels = {n: level_number(v) for n, v in LOGGING_LEVELS.read(configuration).items()}
    root = logging.getLogger()
    found = next((each for each in root.handlers if isinstance(each, FunctionLog)), None)
    log = found or FunctionLog()
    if found is None:
        root.addHandler(log)
    root.setLevel(level)
    for name, each in levels.items():
        logging.getLogger(name).setLevel(each)
    return log


def log_in_driver(entries: list[LogEntry]) -> None:
    """Log in this process what functions have logged in a worker."""
    for entry in entries:
        if _driver_log.isEnabledFor(entry.level):
            where = f"[{entry.where}] " if entry.where else ""
            name = "" if entry.logger == "root" else f"{entry.logger}: "
            record = _driver_log.makeRecord(
                FUNCTIONS, entry.level, "", 0, f"{where}{name}{entry.message}", (), None
            )
            record.created, record.msecs = entry.time, entry.time % 1 * 1000
            _driver_log.handle(record)


def _where(frame: FrameType | None) -> str:
    """Return the operator and the subtask whose frames called."""
    operator: Operator | None = None
    while frame is not None:
        if operator is None:
            operator = _operator_of(frame)
        owner = frame.f_locals.get("self")
        if isinstance(owner, Subtask):
            return owner.place_of(operator)
        frame = frame.f_back
    return ""


def _operator_of(frame: FrameType) -> Operator | None:
    step = step_of(frame, frame.f_lineno)
    if step is not None:
        return step[0]
    owners = (frame.f_locals.get(name) for name in _OWNERS)
    return next((each for each in owners if isinstance(each, Operator)), None)
