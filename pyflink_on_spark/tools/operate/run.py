"""``python -m pyflink_on_spark run``, and its short form without ``run``."""

from __future__ import annotations

import os
import runpy
import sys

from pyflink_on_spark._compat.errors import JobCancelledError
from pyflink_on_spark._compat.import_hook import install
from pyflink_on_spark._job.submission.base_configuration import (
    base_configuration,
    set_base_configuration,
)
from pyflink_on_spark._job.submission.unexecuted import UNEXECUTED
from pyflink_on_spark._spark.session.spark_defaults import command_line
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.tools.operate.driver_log import configure_driver_log
from pyflink_on_spark.tools.operate.run_options import RunOptions, UsageError
from pyflink_on_spark.tools.operate.signals import EndAsked, SignalsAsk
from pyflink_on_spark.tools.script_errors import tell_error

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
        tell_error(error, script)
        return 1
    _tell_of_unexecuted(script)
    return 0


def _end_jobs(asked: KeyboardInterrupt) -> int:
    """End the jobs that still run, and return the exit status of a process ended by a signal."""
    from pyflink_on_spark._operate.server.driver import DRIVER

    status = asked.status if isinstance(asked, EndAsked) else EndAsked(2).status
    for job in DRIVER.jobs.running():
        job.handle.interrupt()
    return status


def _close_output() -> int:
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
