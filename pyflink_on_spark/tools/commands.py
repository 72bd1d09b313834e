"""The subcommands of ``python -m pyflink_on_spark``."""

from __future__ import annotations

import importlib

COMMANDS = {
    "check": "report what of a script works on Spark, without running it",
    "compare": "run a script here and on real PyFlink, and show where their outputs differ",
    "state": "show what a checkpoint or savepoint holds",
    "plan": "show the graph of a script as text, JSON or a picture, without running its jobs",
}


def run_command(name: str, arguments: list[str]) -> int:
    """Run a subcommand; return its exit status.

    Args:
        name: one of ``COMMANDS``.
        arguments: what follows it on the command line.
    """
    module = importlib.import_module(f"pyflink_on_spark.tools.{name}.command")
    status: int = module.main(arguments)
    return status


def split_at_dashes(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Return a tool's own arguments and, after ``--``, those of the script that it runs."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:end], arguments[end + 1 :]
