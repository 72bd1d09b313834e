"""Asks real PyFlink, in processes of its own, what programs give."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from tests.random_programs.outcome import ENGINE, HANGS, Failure, Outcome, from_data

ROOT = Path(__file__).resolve().parents[2]
_JOBS_PER_PROCESS = 60


class ToJson(Protocol):
    """A program, of streams or tables."""

    def to_json(self) -> str:
        """Return the program as one line."""


class Oracle:
    """Real PyFlink. Its process is replaced after some jobs, since the threads of workers remain.

    Args:
        python: an interpreter that has PyFlink.
        module: what the process runs.
        jobs: how many programs a process runs at most before it is replaced.
    """

    def __init__(
        self,
        python: str,
        module: str = "tests.random_programs.oracle",
        jobs: int = _JOBS_PER_PROCESS,
    ) -> None:
        self._python = python
        self._module = module
        self._most = jobs
        self._process: subprocess.Popen[str] | None = None
        self._jobs = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def outcomes(self, programs: Sequence[ToJson]) -> list[Outcome]:
        """Return the outcomes of programs, some of them run at a time.

        A program that ends the process of real PyFlink has failed.
        """
        if self._jobs > self._most:
            self._stop()
        answers = self._answers(programs)
        if all(answers):
            outcomes = [from_data(json.loads(answer)) for answer in answers]
            if Outcome(failure=Failure(HANGS)) in outcomes:
                self._stop()  # its thread would never end
            return outcomes
        self._stop()
        if len(programs) == 1:
            return [Outcome(failure=Failure(ENGINE, "the process ended"))]
        half = len(programs) // 2
        return self.outcomes(programs[:half]) + self.outcomes(programs[half:])

    def _answers(self, programs: Sequence[ToJson]) -> list[str]:
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(program.to_json() + "\n" for program in programs) + "\n")
        process.stdin.flush()
        self._jobs += len(programs)
        return [process.stdout.readline() for _ in programs]

    def _start(self) -> subprocess.Popen[str]:
        self._jobs = 0
        self._process = subprocess.Popen(
            [self._python, "-m", self._module],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        return self._process

    def _stop(self) -> None:
        if self._process is None:
            return
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None
