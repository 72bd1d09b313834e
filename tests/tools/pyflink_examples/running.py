"""Runs examples in processes of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from pyflink_on_spark.tools.compare import Reading
from tests.tools.pyflink_examples.examples import Example

_DRIVER = Path(__file__).with_name("driver.py")
_READING = Reading(any_subtask=True)


def folder_of(python: str) -> Path:
    """Return the folder of the examples of the PyFlink that an interpreter has."""
    program = "import pyflink, sys; sys.stdout.write(pyflink.__path__[0])"
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True)
    return Path(done.stdout) / "examples"


def printed(python: str, engine: str, folder: Path, example: Example) -> list[str]:
    """Return the lines of an example's output that are deterministic.

    Args:
        python: the interpreter.
        engine: as the driver knows it.
        folder: of the examples.
        example: the one to run.

    Raises:
        ValueError: it ends in another way than it should.
    """
    command = [python, str(_DRIVER), engine, str(folder / example.path), *example.functions]
    # Real PyFlink looks for the interpreter of its workers there.
    path = f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command,
            cwd=place,
            env={**os.environ, "PATH": path, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )
        try:
            lines = _lines(process, example)
        finally:
            _end(process)
        errors.seek(0)
        _check_end(example, process.returncode, errors.read())
    return example.determined(lines)


def _lines(process: subprocess.Popen[str], example: Example) -> list[str]:
    assert process.stdout is not None
    found = (kept for line in process.stdout for kept in _READING.lines(line))
    lines = list(islice(found, example.lines))
    if example.lines is None:
        process.wait()
    return lines


def _end(process: subprocess.Popen[str]) -> None:
    """End a process, and what it has started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _check_end(example: Example, status: int, errors: str) -> None:
    if example.lines is not None:
        return
    if example.error is None and status != 0:
        raise ValueError(f"{example.name} fails:\n{errors}")
    if example.error is not None and (status == 0 or example.error not in errors):
        raise ValueError(f"{example.name} does not fail with {example.error!r}:\n{errors}")


def recorded(example: Example) -> list[str]:
    """Return the lines that real PyFlink prints."""
    return example.recorded.read_text(encoding="utf-8").splitlines()


def record(python: str, examples: Sequence[Example]) -> None:
    """Write what real PyFlink prints of examples."""
    folder = folder_of(python)
    for example in examples:
        text = "".join(f"{line}\n" for line in printed(python, "pyflink", folder, example))
        example.recorded.parent.mkdir(parents=True, exist_ok=True)
        example.recorded.write_text(text, encoding="utf-8")
        print(example.name, flush=True)
