"""Runs a PyFlink script on Spark: ``python -m pyflink_on_spark script.py args``; and the tools."""

from __future__ import annotations

import os
import runpy
import sys

from pyflink_on_spark._compat.import_hook import install
from pyflink_on_spark.tools.commands import COMMANDS, run_command

_USAGE = "usage: python -m pyflink_on_spark SCRIPT [ARGUMENT ...]"
_HELP = "\n".join(
    [
        _USAGE,
        "       python -m pyflink_on_spark COMMAND ...",
        "",
        "Runs a PyFlink script on Spark, or one of these commands; COMMAND --help says more:",
        *(f"  {name:<9}{what}" for name, what in COMMANDS.items()),
    ]
)


def main(arguments: list[str] | None = None) -> int:
    """Run a script as Python would, with ``pyflink`` being this package, or a command.

    Args:
        arguments: the script and its own arguments, or a command and its; those of the process
            if not given.
    """
    given = sys.argv[1:] if arguments is None else arguments
    if not given or given[0] in ("-h", "--help"):
        print(_HELP, file=sys.stderr if not given else sys.stdout)
        return 0 if given else 2
    if given[0] in COMMANDS and not os.path.isfile(given[0]):
        return run_command(given[0], given[1:])
    script = given[0]
    if not os.path.isfile(script):
        print(f"{_USAGE}\nthere is no script {script}", file=sys.stderr)
        return 2
    install()
    sys.argv = list(given)
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    runpy.run_path(script, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
