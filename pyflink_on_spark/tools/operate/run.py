"""``python -m pyflink_on_spark run``, and its short form without ``run``."""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from types import TracebackType

from pyflink_on_spark._compat.errors import (
    CheckpointError,
    EnvironmentSetupError,
    JobCancelledError,
    PyFlinkOnSparkError,
)
from pyflink_on_spark._compat.import_hook import install
from pyflink_on_spark._compat.own_frames import forget_causes, is_own, raised_on_purpose
from pyflink_on_spark._job.base_configuration import base_configuration, set_base_configuration
from pyflink_on_spark._job.unexecuted import UNEXECUTED
from pyflink_on_spark._spark.session.spark_defaults import command_line
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.tools.operate.driver_log import configure_driver_log
from pyflink_on_spark.tools.operate.run_options import RunOptions, UsageError
from pyflink_on_spark.tools.operate.signals import EndAsked, SignalsAsk

_CLOSED_PIPE = 141
_NOT_OF_THE_SCRIPT = (CheckpointError, EnvironmentSetupError)


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


def check_script(options: RunOptions) -> str:
    """Return the script's path or the module's name.

    Raises:
        UsageError: there is none.
    """
    script = options.script
    if script is None:
        raise UsageError("which script? run [OPTION ...] SCRIPT [ARGUMENT ...]")
    if options.module:
        return script
    if not os.path.isfile(script):
        raise UsageError(f"there is no script {script}")
    if script.endswith(".jar"):
        raise UsageError(f"{script} runs in Flink's JVM only: give a Python script")
    return script


def run_script(options: RunOptions) -> int:
    """Run a script as Python would, with ``pyflink`` being this package; return its exit status."""
    script = check_script(options)
    install()
    sys.argv = [script, *options.arguments]
    sys.path[0] = "" if options.module else os.path.dirname(os.path.abspath(script))
    SignalsAsk().install()
    try:
        if options.module:
            runpy.run_module(script, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(script, run_name="__main__")
    except KeyboardInterrupt as asked:
        return _end_jobs(asked)
    except JobCancelledError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:
        return _close_output()
    except Exception as error:  # noqa: BLE001 - told as Python tells it, from the script on
        _tell(error, script)
        return 1
    _tell_of_unexecuted(script)
    return 0


def _end_jobs(asked: KeyboardInterrupt) -> int:
    """End the jobs that still run, and return the exit status of a process ended by a signal."""
    from pyflink_on_spark._operate.driver import DRIVER

    status = asked.status if isinstance(asked, EndAsked) else EndAsked(2).status
    for job in DRIVER.jobs.running():
        job.handle.interrupt()
    return status


def _close_output() -> int:
    """Let Python not try again to write to a pipe that nobody reads."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return _CLOSED_PIPE


def _tell(error: Exception, script: str) -> None:
    """Print an error; only what a user can do something about, if its text says enough."""
    told = traceback.TracebackException.from_exception(error)
    says_enough = isinstance(error, PyFlinkOnSparkError) or raised_on_purpose(told.stack)
    if says_enough:
        forget_causes(told)
        if told.__cause__ is None and told.__context__ is None:
            error.__cause__ = error.__context__ = None
    trace = from_script_on(error.__traceback__, script, without_package=says_enough)
    if isinstance(error, _NOT_OF_THE_SCRIPT) and error.__cause__ is None and trace is not None:
        place = traceback.extract_tb(trace)[-1]
        print(f"{place.filename}, line {place.lineno}: {error}", file=sys.stderr)
        return
    sys.excepthook(type(error), error.with_traceback(trace), trace)


def _tell_of_unexecuted(script: str) -> None:
    """Say it if the script has ended without running what it describes."""
    sink = UNEXECUTED.first()
    if sink is not None:
        print(
            f"{script} has ended, and nothing has run what leads to the sink added at {sink}: "
            "call env.execute()",
            file=sys.stderr,
        )


def from_script_on(
    trace: TracebackType | None, script: str, without_package: bool
) -> TracebackType | None:
    """Return the part of a traceback that begins in the script; all of it if it never got there.

    Args:
        trace: the traceback.
        script: the script's path.
        without_package: whether to leave out this package's own frames.
    """
    frames = []
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    files = [frame.tb_frame.f_code.co_filename for frame in frames]
    begin = files.index(script) if script in files else 0
    kept = [
        frame
        for frame, file in zip(frames[begin:], files[begin:], strict=True)
        if not (without_package and is_own(file))
    ]
    for frame in reversed(kept):
        frame.tb_next, trace = trace, frame
    return trace
