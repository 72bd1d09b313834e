"""The subcommands of ``python -m pyflink_on_spark``."""

from __future__ import annotations

import importlib

COMMANDS = {
    "check": "report what of a script works on Spark, without running it",
    "compare": "run a script here and on real PyFlink, and show where their outputs differ",
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
