"""Runs a PyFlink script on Spark: ``python -m pyflink_on_spark script.py args``; and the tools."""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from types import TracebackType

from pyflink_on_spark import __pyflink_version__, __version__
from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._compat.import_hook import install
from pyflink_on_spark._compat.own_frames import forget_causes, is_own, raised_on_purpose
from pyflink_on_spark._job.unexecuted import UNEXECUTED
from pyflink_on_spark._spark.session.spark_defaults import command_line
from pyflink_on_spark.tools.commands import COMMANDS, run_command

_USAGE = (
    "usage: python -m pyflink_on_spark [--master URL] [--conf KEY=VALUE ...] SCRIPT [ARGUMENT ...]"
)
_HELP = "\n".join(
    [
        _USAGE,
        "       python -m pyflink_on_spark COMMAND ...",
        "",
        "Runs a PyFlink script on Spark, or one of these commands; COMMAND --help says more:",
        *(f"  {name:<9}{what}" for name, what in COMMANDS.items()),
        "",
        "Spark runs on this machine, if nothing else is said by",
        "  --master URL      the cluster: spark://HOST:PORT, yarn, k8s://..., local[2]",
        "  --conf KEY=VALUE  a setting of Spark's; any number of them",
        "  spark-defaults.conf, or the settings spark.* in the script",
        "",
        "  --version         shows the versions of this package and of the mirrored PyFlink",
    ]
)


def main(arguments: list[str] | None = None) -> int:
    """Run a script as Python would, with ``pyflink`` being this package, or a command.

    Args:
        arguments: the script and its own arguments, or a command and its; those of the process
            if not given.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        command_line.update(_settings(given))
    except ValueError as error:
        print(f"{_USAGE}\n{error}", file=sys.stderr)
        return 2
    if not given or given[0] in ("-h", "--help"):
        print(_HELP, file=sys.stderr if not given else sys.stdout)
        return 0 if given else 2
    if given[0] == "--version":
        print(f"pyflink_on_spark {__version__} (PyFlink {__pyflink_version__})")
        return 0
    if given[0] in COMMANDS and not os.path.isfile(given[0]):
        return run_command(given[0], given[1:])
    script = given[0]
    if not os.path.isfile(script):
        print(f"{_USAGE}\nthere is no script {script}", file=sys.stderr)
        return 2
    install()
    sys.argv = given
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    try:
        runpy.run_path(script, run_name="__main__")
    except Exception as error:  # noqa: BLE001 - printed as Python prints it, from the script on
        _tell(error, script)
        return 1
    _tell_of_unexecuted(script)
    return 0


def _tell(error: Exception, script: str) -> None:
    """Print an error; only what a user can do something about, if its text says enough."""
    told = traceback.TracebackException.from_exception(error)
    says_enough = isinstance(error, PyFlinkOnSparkError) or raised_on_purpose(told.stack)
    if says_enough:
        forget_causes(told)
        if told.__cause__ is None and told.__context__ is None:
            error.__cause__ = error.__context__ = None
    trace = from_script_on(error.__traceback__, script, without_package=says_enough)
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


def _settings(arguments: list[str]) -> dict[str, str]:
    """Take Spark's settings off the front of the arguments, and return them.

    Raises:
        ValueError: if one of them is not complete.
    """
    settings: dict[str, str] = {}
    while arguments and arguments[0].split("=")[0] in ("--master", "--conf"):
        option, equals, value = arguments.pop(0).partition("=")
        if not equals:
            if not arguments:
                raise ValueError(f"{option} needs a value")
            value = arguments.pop(0)
        key, equals, value = (
            ("spark.master", "=", value) if option == "--master" else (value.partition("="))
        )
        if not (equals and key.startswith("spark.")):
            raise ValueError(f"--conf takes spark.SOMETHING=VALUE, not {key}")
        settings[key] = value
    return settings


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


if __name__ == "__main__":
    sys.exit(main())
