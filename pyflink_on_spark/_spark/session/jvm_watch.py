"""A companion of Spark's JVM: keeps its start-up lines off the console, and tidies up after it.

The JVM inherits the standard error stream of this process. While it is being launched, that stream
is a pipe to the companion, which passes everything on but the lines that Spark's own launch
flags provoke. The companion outlives both processes, and then removes the
scratch folder: also when they were killed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

_SILENCED_LINES = (
    "WARNING: Using incubator modules: jdk.incubator.vector",
    "WARNING: package sun.security.action not in java.base",
)
_SCRIPT = """
sed -u -e '/Streaming TransformWithStateInPandas Python worker/{N;d;}' |
grep --line-buffered -v -x -F -e "$1"
cat
cat "/dev/fd/$2" > /dev/null
rm -rf -- "$3"
"""
_STANDARD_ERROR = 2

# The companions, and what tells them that this process lives.
_companions: list[tuple[subprocess.Popen[bytes], int]] = []


def can_watch() -> bool:
    """Return whether this machine has what the companion is made of."""
    tools = all(shutil.which(tool) for tool in ("sh", "sed", "grep", "cat", "rm"))
    return tools and os.path.isdir("/dev/fd") and _is_open(_STANDARD_ERROR)


@contextlib.contextmanager
def watched_launch(scratch: Path) -> Iterator[None]:
    """Launch a JVM inside, and it has a companion.

    Args:
        scratch: the folder to remove when the JVM and this process have ended.
    """
    console = os.dup(_STANDARD_ERROR)
    try:
        _redirect_to_companion(console, scratch)
        yield
    finally:
        os.dup2(console, _STANDARD_ERROR)
        os.close(console)


def _redirect_to_companion(console: int, scratch: Path) -> None:
    from_jvm, to_companion = os.pipe()
    alive, lifeline = os.pipe()
    try:
        companion = subprocess.Popen(
            ["sh", "-c", _SCRIPT, "sh", "\n".join(_SILENCED_LINES), str(alive), str(scratch)],
            stdin=from_jvm,
            stdout=console,
            stderr=subprocess.DEVNULL,
            pass_fds=(alive,),
            cwd="/",
            start_new_session=True,
        )
        _companions.append((companion, lifeline))
        os.dup2(to_companion, _STANDARD_ERROR)
    finally:
        for end in (from_jvm, to_companion, alive):
            os.close(end)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
