"""``python -m pyflink_on_spark run``, and its short form without ``run``."""

from __future__ import annotations

import functools
import logging
import os
import runpy
import signal
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType
from typing import Any

from pyflink_on_spark._compat.errors import JobCancelledError, UnsupportedFlinkFeature
from pyflink_on_spark._compat.import_hook import install
from pyflink_on_spark._job.job import (
    UNEXECUTED,
    base_configuration,
    set_base_configuration,
)
from pyflink_on_spark._options.flink import LOG_LEVEL, level_number
from pyflink_on_spark._options.python import FILES
from pyflink_on_spark._runtime.user_code import (
    PythonDependencies,
    lay_out,
    search_path,
)
from pyflink_on_spark._spark.session.session import say_goodbye
from pyflink_on_spark._spark.session.spark_defaults import command_line
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.tools.operate.run_options import RunOptions, UsageError, check_script
from pyflink_on_spark.tools.script_errors import tell_error

_log = logging.getLogger("pyflink_on_spark")
_FORMAT = "%(asctime)s %(levelname)-7s %(name)s - %(message)s"


class _UnlessConfigured(logging.StreamHandler[Any]):
    """Writes to standard error, as long as the script has not configured ``logging`` itself."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        if not logging.getLogger().handlers:
            super().emit(record)


def configure_driver_log(default: str | None) -> None:
    """Log with times, at the level of ``env.log.level``.

    Args:
        default: the level if the option is not set; None for that of the root logger, which is
            WARNING unless the script sets another.
    """
    level = LOG_LEVEL.read(base_configuration()) or default
    logger = logging.getLogger("pyflink_on_spark")
    if not any(isinstance(handler, _UnlessConfigured) for handler in logger.handlers):
        handler = _UnlessConfigured()
        handler.setFormatter(logging.Formatter(_FORMAT))
        logger.addHandler(handler)
    logger.setLevel(logging.NOTSET if level is None else level_number(level))


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_ENDED_BY_SIGNAL = 128


class EndAsked(KeyboardInterrupt):
    """A signal asks this process to end.

    Args:
        number: the signal's.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    @property
    def status(self) -> int:
        """The exit status, as shells know it."""
        return _ENDED_BY_SIGNAL + self.number


class SignalsAsk:
    """Takes the signals that end a process, from ``install`` on."""

    def __init__(self) -> None:
        self._asked = False

    def install(self) -> None:
        """Take the signals, but those that this process was started to ignore."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in _SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._take)

    def _take(self, number: int, frame: FrameType | None) -> None:
        name = signal.Signals(number).name
        if self._asked:
            os.write(2, f"ended by a second signal ({name})\n".encode())
            say_goodbye(os.getpid())
            os._exit(_ENDED_BY_SIGNAL + number)
        self._asked = True
        if sys.stderr.isatty():
            os.write(2, b"\nThe job ends; press Ctrl-C again to end at once.\n")
        raise EndAsked(number)


_CLOSED_PIPE = 141


def configure(options: RunOptions, log_level: str | None) -> None:
    """Let the options be what all environments of this process begin with.

    Args:
        options: those of the command line.
        log_level: what is logged if no option says it; None for what the script says.

    Raises:
        UsageError: an option has a value that it cannot have, or Flink's file cannot be read.
    """
    command_line.update(options.spark)
    try:
        set_base_configuration(options.configuration)
        environment = StreamExecutionEnvironment(Configuration())  # type: ignore[no-untyped-call]
        environment.configure(Configuration.from_dict(base_configuration()))
        environment._check_options()
        configure_driver_log(log_level)
    except ValueError as error:
        raise UsageError(str(error)) from None


def job_files() -> list[str]:
    """The entries of ``sys.path`` for ``python.files``, which the script may import, too.

    Raises:
        UsageError: one of the files is not there, or not on this machine.
    """
    try:
        configuration = base_configuration()
        files = PythonDependencies.of({FILES.key: FILES.read(configuration)}).files
    except (FileNotFoundError, UnsupportedFlinkFeature) as error:
        raise UsageError(str(error)) from None
    packed = tuple(path for path in files if not os.path.isdir(path))
    folders = lay_out(PythonDependencies(packed), Path(_folder().name), sys.executable)
    copies = iter(search_path(folders))
    return [path if os.path.isdir(path) else next(copies) for path in files]


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="pyflink-on-spark-")


def run_script(options: RunOptions) -> int:
    """Run a script as Python would, with ``pyflink`` being this package; return its exit status."""
    script = check_script(options)
    files = job_files()
    install()
    sys.argv = [script, *options.arguments]
    sys.path[0] = "" if options.module else os.path.dirname(os.path.abspath(script))
    sys.path[1:1] = files
    SignalsAsk().install()
    try:
        _run(script, module=options.module)
        _wait_for_jobs(script)
    except KeyboardInterrupt as asked:
        return _end_jobs(asked)
    except JobCancelledError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:
        return close_output()
    except Exception as error:  # noqa: BLE001 - told as Python tells it, from the script on
        tell_error(error, script)
        return 1
    _tell_of_unexecuted(script)
    return 0


def _run(script: str, *, module: bool) -> None:
    try:
        if module:
            runpy.run_module(script, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(script, run_name="__main__")
    except SystemExit as ended:
        if ended.code:
            raise


def _wait_for_jobs(script: str) -> None:
    """Wait for jobs that the script has not waited for, which continue on a cluster of Flink, too.

    A job whose results the script reads ends with the script, since nobody reads them any more.
    """
    from pyflink_on_spark._operate.server.job_registry import DRIVER

    for job in DRIVER.jobs.running():
        if job.job.collected is None:
            _log.info("%s has ended; %r continues", script, job.job.name)
            job.handle.result()


def _end_jobs(asked: KeyboardInterrupt) -> int:
    """End the jobs that still run, and return the exit status of a process ended by a signal."""
    from pyflink_on_spark._operate.server.job_registry import DRIVER

    status = asked.status if isinstance(asked, EndAsked) else EndAsked(2).status
    for job in DRIVER.jobs.running():
        job.handle.interrupt()
    return status


def close_output() -> int:
    """Let Python not try again to write to a pipe that nobody reads."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return _CLOSED_PIPE


def _tell_of_unexecuted(script: str) -> None:
    """Say it if the script has ended without running what it describes."""
    sink = UNEXECUTED.first()
    if sink is not None:
        print(
            f"{script} has ended, and nothing has run what leads to the sink added at {sink}: "
            "call env.execute()",
            file=sys.stderr,
        )
