"""Runs a program on whichever engine ``pyflink`` is."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

from tests.random_programs.outcome import (
    BUILD,
    USER,
    Failure,
    Outcome,
    canonical,
    failure,
    root_cause,
)
from tests.random_programs.program import Program
from tests.random_programs.rendering import FILE_NAME, definitions

Printed = Callable[[Callable[[], None]], list[str]]
"""Runs what prints, and returns at least the lines that it printed."""


def run(program: Program, make_env: Callable[[], Any], printed: Printed, label: str) -> Outcome:
    """Run a program.

    Args:
        program: what runs.
        make_env: makes an environment of the engine.
        printed: gets at what is printed.
        label: the job's name, which tells its printed lines from those of other jobs.
    """
    try:
        env = _environment(program, make_env())
        streams = _build(program)(env)
        names = [f"{label}.{number}" for number in range(len(streams))]
        if program.outputs[0].how == "print":
            for stream, name in zip(streams, names):
                stream.print(name)
    except Exception as error:  # noqa: BLE001 - it is what the program gave
        return Outcome(failure=_built(error))
    try:
        if program.outputs[0].how == "print":
            found = printed(lambda: env.execute(label))
            return Outcome(tuple(_lines(found, name) for name in names))
        with streams[0].execute_and_collect(label) as results:
            return Outcome((tuple(map(canonical, results)),))
    except Exception as error:  # noqa: BLE001
        return Outcome(failure=failure(_text(error)))


def _build(program: Program) -> Callable[[Any], list[Any]]:
    module: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(definitions(program), FILE_NAME, "exec"), module)
    return module["build"]


def _environment(program: Program, env: Any) -> Any:
    from pyflink.common import Configuration
    from pyflink.datastream import RuntimeExecutionMode

    env.set_parallelism(program.parallelism)
    env.set_runtime_mode(RuntimeExecutionMode[program.mode])
    configuration = Configuration()
    for key, value in program.settings.items():
        configuration.set_string(key, value)
    env.configure(configuration)
    return env


def _built(error: Exception) -> Failure:
    """Return who raised an error while the program was built: user code does not run then."""
    last = traceback.extract_tb(error.__traceback__)[-1].filename
    found = f"{type(error).__name__}: {root_cause(str(error))}"
    return Failure(BUILD if last != FILE_NAME else USER, found)


def _text(error: BaseException) -> str:
    """Return an error with its cause, if that is what the program raised."""
    cause = error.__cause__
    if cause is not None and cause.__traceback__ is not None:
        return "".join(traceback.format_exception(cause, chain=False)) + "\n" + str(error)
    return str(error)


def _lines(found: list[str], name: str) -> tuple[str, ...]:
    """Return the lines of a sink, without its name: ``name> text`` or ``name:subtask> text``."""
    lines = []
    for line in found:
        if line.startswith(f"{name}> "):
            lines.append(line.removeprefix(f"{name}> "))
        elif line.startswith(f"{name}:"):
            lines.append(line.removeprefix(f"{name}:"))
    return tuple(lines)
