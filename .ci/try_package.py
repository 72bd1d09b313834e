"""Uses a release as users do: python .ci/try_package.py FOLDER [ARGUMENT OF PYTEST ...].

Installs the wheels of FOLDER into an environment of their own, outside of the checkout. There it
runs the first program of README.md on Spark, asks the command flink for its version, and runs the
compatibility tests in-process. Also builds a wheel from the sdist, which has to have the same
files.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_CONSTRAINTS = ROOT / "scripts" / "constraints.txt"
_PROGRAM = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LAST_COUNTS = {"('to', 2)", "('be', 2)", "('or', 1)", "('not', 1)"}
_TESTS = ("compat_tests", "conftest.py", "pyproject.toml")


def main(folder: str, *arguments: str) -> int:
    """Return the exit status; print what is wrong."""
    [wheel] = Path(folder).resolve().glob("pyflink_on_spark-*.whl")
    [sdist] = Path(folder).resolve().glob("pyflink_on_spark-*.tar.gz")
    [commands] = Path(folder).resolve().glob("pyflink_on_spark_flink_command-*.whl")
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        python = _environment(place / "venv", f"{wheel}[test]", str(commands))
        wrong = [
            *_differences(python, sdist, wheel, place),
            *_program(python, place),
            *_command(python.parent / "flink"),
            *_tests(python, place / "tests", arguments),
        ]
    sys.stdout.writelines(f"{line}\n" for line in wrong)
    return int(bool(wrong))


def _environment(place: Path, *requirements: str) -> Path:
    venv.create(place, with_pip=True)
    python = place / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "--constraint", _CONSTRAINTS, *requirements], check=True)
    return python


def _differences(python: Path, sdist: Path, wheel: Path, place: Path) -> list[str]:
    build = [python, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*build, "--wheel-dir", place, sdist], check=True)
    missing = _names(wheel) ^ _names(place / wheel.name)
    return [f"{name} is in one of the wheels, of the release and of the sdist" for name in missing]


def _names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def _program(python: Path, place: Path) -> list[str]:
    program = _PROGRAM.search((ROOT / "README.md").read_text(encoding="utf-8"))
    if program is None:
        return ["README.md has no program"]
    script = place / "word_count.py"
    script.write_text(program[1], encoding="utf-8")
    done = _run([python, "-m", "pyflink_on_spark", script.name], place)
    missing = {count for count in _LAST_COUNTS if count not in done.stdout}
    return [f"the program of README.md: {done.stdout}{done.stderr}"] if missing else []


def _command(flink: Path) -> list[str]:
    done = _run([flink, "--version"], flink.parent)
    return [] if done.returncode == 0 else [f"flink --version: {done.stdout}{done.stderr}"]


def _tests(python: Path, place: Path, arguments: tuple[str, ...]) -> list[str]:
    place.mkdir()
    for name in _TESTS:
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, place / name)
    done = _run([python, "-c", "import pyflink_on_spark as p; print(p.__file__)"], place)
    if not done.stdout.startswith(str(python.parent.parent)):
        return [f"the tests would not test the wheel: {done.stdout}{done.stderr}"]
    tests = arguments or ("compat_tests",)
    run = [python, "-m", "pytest", "-q", "-n", "auto", "--engine=local", *tests]
    return [] if subprocess.run(run, cwd=place, check=False).returncode == 0 else ["tests failed"]


def _run(command: list[Path | str], place: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
