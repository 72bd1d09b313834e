"""The subcommands of ``python -m pyflink_on_spark``."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from typing import Any

from pyflink_on_spark._options.own import CHECKPOINT_KEY

COMMANDS = {
    "archive": "record the archive of Java classes with which Spark starts faster",
    "check": "report what of a script works on Spark, without running it",
    "compare": "run a script here and on real PyFlink, and show where their outputs differ",
    "flink-command": "write the commands flink and sql-client.sh, for scripts that call them",
    "serve": "serve a page over all jobs of this user, and run scripts that are submitted",
    "sql": "carry out SQL: of a file, or at a prompt",
    "state": "show what a checkpoint or savepoint holds",
    "stubs": "let editors and type checkers resolve the imports of pyflink",
    "plan": "show the graph of a script as text, JSON or a picture, without running its jobs",
}

OPERATIONS = {
    "list": "list the jobs of this user on this machine",
    "cancel": "cancel a job",
    "stop": "stop a job with a savepoint",
    "savepoint": "write a savepoint of a job, or remove a savepoint",
    "checkpoint": "write a checkpoint of a job",
    "checkpoints": "list the latest checkpoints and savepoints of a job",
    "exceptions": "show the failures of a job, also after its end",
    "stacks": "show what the functions of a job do now, to find one that is stuck",
    "logs": "show the end of the log of a job, also after its end",
}
"""The commands for a job of another process."""


def run_command(name: str, arguments: list[str]) -> int:
    """Run a subcommand; return its exit status.

    Args:
        name: one of ``COMMANDS`` or ``OPERATIONS``.
        arguments: what follows it on the command line.
    """
    try:
        status = _carry_out(name, arguments)
        sys.stdout.flush()
    except BrokenPipeError as error:
        if _output_has_no_reader():
            return _BROKEN_PIPE
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    return status


def _output_has_no_reader() -> bool:
    """True if nobody reads what this process prints: ``check jobs | head`` has read enough.

    What is left to print is dropped then.
    """
    try:
        print(flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return True
    return False


_BROKEN_PIPE = 128 + 13
"""The exit status of a program that SIGPIPE ends."""


def _carry_out(name: str, arguments: list[str]) -> int:
    if name in OPERATIONS:
        operations = importlib.import_module("pyflink_on_spark.tools.operate.commands")
        done: int = operations.run_operation(name, arguments)
        return done
    path = f"pyflink_on_spark.tools.{name.replace('-', '_')}"
    module = importlib.import_module(path)
    if not hasattr(module, "main"):
        module = importlib.import_module(f"{path}.command")
    status: int = module.main(arguments)
    return status


def split_at_dashes(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Return a tool's own arguments and, after ``--``, those of the script that it runs."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:end], arguments[end + 1 :]


def parser_of(command: str, description: str, **settings: Any) -> argparse.ArgumentParser:
    """Return the parser of a subcommand's arguments.

    Args:
        command: one of ``COMMANDS``.
        description: what it does.
        settings: further arguments of ``ArgumentParser``.
    """
    return argparse.ArgumentParser(
        prog=f"python -m pyflink_on_spark {command}", description=description, **settings
    )


def add_key(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the key of checkpoints."""
    parser.add_argument(
        "--key",
        metavar="KEY",
        help="the place of the key that must have signed it: file:///PATH or env:NAME",
    )


def configuration_of_key(key: str | None) -> dict[str, str]:
    """The configuration with the place of a key, if there is one."""
    return {} if key is None else {CHECKPOINT_KEY.key: key}
