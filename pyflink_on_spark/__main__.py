"""Runs a PyFlink script on Spark: ``python -m pyflink_on_spark script.py args``; and the tools."""

from __future__ import annotations

import os
import sys

from pyflink_on_spark import __pyflink_version__, __version__
from pyflink_on_spark.tools.commands import COMMANDS, OPERATIONS, run_command
from pyflink_on_spark.tools.operate.run_options import (
    RunOptions,
    UsageError,
    check_script,
    help_lines,
    parse,
)

_USAGE = "usage: python -m pyflink_on_spark [run] [OPTION ...] SCRIPT [ARGUMENT ...]"
_APPLICATION = "run-application"
_COMMANDS = {
    "run": "run a script; the same without the word, which logs less",
    _APPLICATION: "run a script as `run -d` does; Flink's word for a cluster of its own",
    "info": "show the plan of a script as Flink's JSON, without running its jobs",
    **OPERATIONS,
    **COMMANDS,
}
_HELP = "\n".join(
    [
        _USAGE,
        "       python -m pyflink_on_spark COMMAND ...",
        "",
        "Runs a PyFlink script on Spark, or one of these commands; COMMAND --help says more:",
        *(f"  {name:<16}{what}" for name, what in _COMMANDS.items()),
        "",
        "Options of run, info and of a script without a command:",
        *help_lines(),
        "  --version".ljust(36) + " shows the versions of this package and of the mirrored PyFlink",
        "",
        "Options that are not set are read from config.yaml in the folder FLINK_CONF_DIR. Spark",
        "runs on this machine, if neither --master, spark-defaults.conf nor the script says where.",
    ]
)


def main(arguments: list[str] | None = None) -> int:
    """Run a script as Python would, with ``pyflink`` being this package, or a command.

    Args:
        arguments: the script and its own arguments, or a command and its; those of the process
            if not given.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] in ("-h", "--help"):
        print(_HELP, file=sys.stderr if not given else sys.stdout)
        return 0 if given else 2
    if given[0] in ("-v", "--version"):
        print(f"pyflink_on_spark {__version__} (PyFlink {__pyflink_version__})")
        return 0
    command = given[0] if given[0] in _COMMANDS and not os.path.isfile(given[0]) else ""
    rest = given[1:] if command else given
    if command in COMMANDS or command in OPERATIONS:
        return run_command(command, rest)
    return _run(command, rest)


def _run(command: str, arguments: list[str]) -> int:
    """Run a script, or show its plan."""
    if arguments and arguments[0] in ("-h", "--help"):
        usage = f"python -m pyflink_on_spark {command} [OPTION ...] SCRIPT [ARGUMENT ...]"
        print(f"usage: {usage}", "", *help_lines(), sep="\n")
        return 0
    try:
        options = parse(arguments)
        _check_word(command, options)
        options.detached |= command == _APPLICATION
        if command == "info":
            from pyflink_on_spark.tools.operate.commands import show_plan

            return show_plan(options)
        return _run_script(command, options, arguments)
    except UsageError as error:
        print(f"{_USAGE}\n{error}", file=sys.stderr)
        return 2


def _check_word(command: str, options: RunOptions) -> None:
    """Raise if the first word is neither a script nor a command, and may be meant as either."""
    word = options.script or ""
    if command or options.module or not word.isidentifier() or os.path.exists(word):
        return
    raise UsageError(f"there is no script {word} and no such command; --help lists the commands")


def _run_script(command: str, options: RunOptions, arguments: list[str]) -> int:
    from pyflink_on_spark.tools.operate.commands import find_server, submit

    check_script(options)
    server = find_server(options) if options.log is None else None
    for note in options.notes if options.log is None else ():
        print(note, file=sys.stderr)
    if server is not None:
        return submit(options, server)
    from pyflink_on_spark.tools.operate import detach
    from pyflink_on_spark.tools.operate.run import configure, run_script

    configure(options, "INFO" if command and not options.quiet else None)
    if options.log is not None:
        detach.look_after_log(options.log)
    elif options.detached:
        return detach.run_detached(options, arguments)
    return run_script(options)


if __name__ == "__main__":
    sys.exit(main())
