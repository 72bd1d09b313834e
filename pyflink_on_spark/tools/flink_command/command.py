"""``python -m pyflink_on_spark flink-command``."""

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

sys.exit(main())
"""


def main(arguments: list[str]) -> int:
    """Write the command ``flink``.

    Returns:
        0, or 1 if the folder has a ``flink`` that is not of this command.
    """
    options = _parser().parse_args(arguments)
    target = Path(options.folder) / "flink"
    if target.exists() and _MARK not in target.read_text(encoding="utf-8", errors="replace"):
        print(f"flink-command: {target} exists, and is not of this command", file=sys.stderr)
        return 1
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_LAUNCHER.format(python=sys.executable), encoding="utf-8")
        target.chmod(0o755)
    except OSError as error:
        print(f"flink-command: {error}", file=sys.stderr)
        return 1
    print(f"{target} runs, lists and stops jobs as pyflink-on-spark does")
    if str(target.parent) not in os.get_exec_path():
        print(f"{target.parent} is not on the PATH of this shell")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = parser_of(
        "flink-command",
        "Write a command named flink, so that scripts, Makefiles and images that call flink run, "
        "flink list or flink stop work unchanged.",
    )
    parser.add_argument(
        "folder",
        nargs="?",
        default=sysconfig.get_path("scripts"),
        metavar="FOLDER",
        help="that of this environment's commands if not given",
    )
    return parser
