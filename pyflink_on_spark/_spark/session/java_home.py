"""Find the Java that Spark will run on, before Spark fails to start for want of it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pyflink_on_spark._compat.errors import EnvironmentSetupError

OLDEST_JAVA = 17
_JAVA = "java.exe" if os.name == "nt" else "java"
_FRAME = re.compile(r"\s+(?:at |\.\.\. \d+ more)")
_CALLING = re.compile(r"An error occurred while calling \S+\s*$")
_LONGEST, _MOST_LINES = 1000, 8


@dataclass(frozen=True)
class JavaRuntime:
    """An installed Java.

    Args:
        home: its folder, what `JAVA_HOME` means.
        major: its major version, as in 17.
        identity: everything that tells it from another build: versions, vendor, platform.
    """

    home: Path
    major: int
    identity: str


def find_java(environment: Mapping[str, str] | None = None) -> JavaRuntime:
    """Return the Java that ``JAVA_HOME`` names, or else the first fit one on ``PATH``.

    Args:
        environment: the environment variables; the process's own by default.

    Raises:
        EnvironmentSetupError: if there is no Java, or only one that is too old for Spark 4.
    """
    environment = os.environ if environment is None else environment
    found: list[str] = []
    for origin, executable in _candidates(environment):
        java = _inspect(executable)
        if java is not None and java.major >= OLDEST_JAVA:
            return java
        state = "no Java that runs" if java is None else f"Java {java.major}"
        found.append(f"{origin} has {state} ({executable})")
    raise EnvironmentSetupError(
        "Spark 4 needs Java 17 or 21: install one, for example Temurin 21, and set JAVA_HOME to "
        "its folder or put its java on PATH (JAVA_HOME is looked at first, then PATH; "
        f"{'; '.join(found) or 'neither has a java'})"
    )


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    home = environment.get("JAVA_HOME")
    if home:
        yield "JAVA_HOME", Path(home) / "bin" / _JAVA
    for folder in environment.get("PATH", os.defpath).split(os.pathsep):
        executable = shutil.which(_JAVA, path=folder) if folder else None
        if executable:
            yield "PATH", Path(executable)


def _inspect(executable: Path) -> JavaRuntime | None:
    """Describe a ``java`` by its ``release`` file, or else by running it."""
    if not os.access(executable, os.X_OK):
        return None
    resolved = executable.resolve()
    home = resolved.parent.parent
    try:
        identity = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        identity = _ask(resolved)
    version = re.search(r'JAVA_VERSION="?(?:1\.)?(\d+)', identity)
    if version is None:
        return None
    if told := re.search(r'^JAVA_HOME="(.*)"$', identity, re.MULTILINE):
        home = Path(told[1])
    return JavaRuntime(home, int(version[1]), f"{resolved}\n{identity}")


def _ask(executable: Path) -> str:
    """Run a java that may be a shim, and return its answer in the form of a ``release`` file."""
    try:
        answer = subprocess.run(
            [str(executable), "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    names = {
        "java.home": "JAVA_HOME",
        "java.version": "JAVA_VERSION",
        "java.vm.version": "JAVA_RUNTIME_VERSION",
        "java.vendor": "IMPLEMENTOR",
    }
    told = re.findall(r"^\s*(java\.[a-z.]+) = (.*)$", answer.stderr, re.MULTILINE)
    return "\n".join(f'{names[name]}="{value}"' for name, value in told if name in names)


_PYTHON_FRAMES = re.compile(r"Traceback \(most recent call last\):\n(?: .*\n)+")


def gist(text: str) -> str:
    """Return the first lines of an error's text, without stack traces of Java and of PySpark."""
    without = _PYTHON_FRAMES.sub("", text).splitlines()
    lines = [line.removeprefix(": ") for line in without if _says_something(line)]
    first = "\n".join(lines[:_MOST_LINES])
    return first if first == "\n".join(lines) and len(first) <= _LONGEST else _cut(first)


def _says_something(line: str) -> bool:
    return bool(line.strip()) and _FRAME.match(line) is None and _CALLING.match(line) is None


def _cut(text: str) -> str:
    return f"{text[:_LONGEST]} ..."
