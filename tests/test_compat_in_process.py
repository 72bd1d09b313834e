"""The compatibility suite in-process: without a JVM, in seconds.

With jobs that are cut into pieces and restarted after each of them: half of the tests of tables,
and all others. The tests of tables also as they are, since few of them run on Spark beside this.
Those that cannot be restarted, such as tests of late rows, have a checkpoint after each piece.
`tox -e coverage` runs the others as they are, too.

Most of its time is spent waiting for time to pass, so parts of it run side by side. A test that
fails beside others has to pass alone: once if it measures time, and says so, else three times.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
PARTS = 4
PASSED = {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}


class Part:
    """Some files of the suite, which a process of its own runs.

    Args:
        folder: has the log, the cache and what the tests write.
        mode: how jobs are cut.
    """

    def __init__(self, folder: Path, mode: str) -> None:
        self.folder, self.mode = folder, mode
        folder.mkdir()

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "pytest", "-q", "-o", f"cache_dir={self.folder / 'cache'}"]
        command += ["--engine=local", f"--mode={self.mode}", f"--basetemp={self.folder / 'files'}"]
        environment = {**os.environ, "PYTEST_ADDOPTS": "", "PYTHONDONTWRITEBYTECODE": "1"}
        with (self.folder / "log.txt").open("wb") as log:
            return subprocess.Popen(
                [*command, *arguments], cwd=ROOT, env=environment, stdout=log, stderr=log
            )

    def told(self) -> str:
        return (self.folder / "log.txt").read_text(encoding="utf-8")

    def fails_again(self) -> bool:
        """True if anything of what failed also fails alone, once or, without the mark, thrice."""
        failed = self.folder / "cache" / "v" / "cache" / "lastfailed"
        if not failed.exists():
            return True
        names = json.loads(failed.read_text(encoding="utf-8"))
        again = [["-m", "timed or not timed"], *[["-m", "not timed"]] * 2]
        return any(self._fails(names, number, only) for number, only in enumerate(again))

    def _fails(self, names: Iterable[str], number: int, only: list[str]) -> bool:
        alone = Part(self.folder / f"again-{number}", self.mode)
        return alone.start(*only, *names).wait() not in PASSED


@pytest.mark.parametrize(
    ("mode", "pattern", "chosen"),
    [
        ("whole", "test_table_*.py", ""),
        ("restarted", "test_*.py", ""),
        ("continuous", "test_*.py", "one_attempt"),
    ],
)
def test_compatibility_tests_in_process(tmp_path, mode, pattern, chosen):
    files = [
        file
        for file in sorted((ROOT / "compat_tests").glob(pattern))
        if f"mark.{chosen}" in file.read_text(encoding="utf-8") or not chosen
    ]
    count = PARTS if not chosen else 1
    some = ["--some-cases"] if mode == "restarted" else []
    parts = [Part(tmp_path / str(number), mode) for number in range(count)]
    runs = [
        part.start(
            "-m", chosen, *some, *(str(file.relative_to(ROOT)) for file in files[number::count])
        )
        for number, part in enumerate(parts)
    ]
    failed = [part for part, run in zip(parts, runs, strict=True) if run.wait() != 0]
    failures = [part.told() for part in failed if part.fails_again()]
    assert not failures, "\n".join(failures)
