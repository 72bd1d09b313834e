"""The command ``flink`` of an environment."""

from __future__ import annotations

import argparse
import os
import sys
import sysconfig
from pathlib import Path

from pyflink_on_spark.tools.commands import parser_of

_MARK = "# Made by python -m pyflink_on_spark flink-command."
_LAUNCHER = f"""\
#!{{python}}
{_MARK}
import sys

from pyflink_on_spark.__main__ import main

sys.exit(main({{arguments}}))
"""
_COMMANDS = {"flink": "", "sql-client.sh": "['sql', *sys.argv[1:]]"}
"""The arguments by the name of a command; those of the process if empty."""


def main(arguments: list[str]) -> int:
    """Write the commands ``flink`` and ``sql-client.sh``.

    Returns:
        0, or 1 if the folder has one of them that is not of this command.
    """
    folder = Path(_parser().parse_args(arguments).folder)
    for name in _COMMANDS:
        target = folder / name
        if target.exists() and _MARK not in target.read_text(encoding="utf-8", errors="replace"):
            print(f"flink-command: {target} exists, and is not of this command", file=sys.stderr)
            return 1
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, given in _COMMANDS.items():
            text = _LAUNCHER.format(python=sys.executable, arguments=given)
            (folder / name).write_text(text, encoding="utf-8")
            (folder / name).chmod(0o755)
    except OSError as error:
        print(f"flink-command: {error}", file=sys.stderr)
        return 1
    print(f"{folder / 'flink'} runs, lists and stops jobs as pyflink-on-spark does")
    print(f"{folder / 'sql-client.sh'} carries out SQL as pyflink-on-spark sql does")
    if str(folder) not in os.get_exec_path():
        print(f"{folder} is not on the PATH of this shell")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = parser_of(
        "flink-command",
        "Write the commands flink and sql-client.sh, so that scripts, Makefiles and images that "
        "call flink run, flink list, flink stop or sql-client.sh -f work unchanged.",
    )
    parser.add_argument(
        "folder",
        nargs="?",
        default=sysconfig.get_path("scripts"),
        metavar="FOLDER",
        help="that of this environment's commands if not given",
    )
    return parser
