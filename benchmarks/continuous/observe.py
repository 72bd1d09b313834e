"""Runs a job that does not end, and looks at its processes until it is stopped."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.continuous.figures import Sample
from benchmarks.measure import CommandFailed

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_STEP_SECONDS = 0.5
_START_SECONDS = 180
_STOP_SECONDS = 60


class Family:
    """A process and all that it has started, directly or not, in whichever session."""

    def __init__(self, root):
        self._root = root
        self._kinds = {}
        self._ticks = {}

    def sample(self):
        """Look at them now."""
        found = dict(_processes())
        resident = {}
        for process in self._members(found):
            _, started, ticks, pages = found[process]
            self._ticks[process, started] = ticks
            kind = self._kinds.get((process, started)) or _kind(process)
            self._kinds[process, started] = kind
            resident[kind] = resident.get(kind, 0) + pages * _PAGE
        seconds = sum(self._ticks.values()) / _TICKS
        return Sample(int(time.time() * 1000), seconds, resident)

    def kill(self):
        """End those that are left."""
        self.sample()
        for process, started in list(self._kinds):
            if dict(_processes()).get(process, (0, None))[1] == started:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)

    def _members(self, found):
        """Yield the family's living members: also those whose parent is gone."""
        members = {p for p, (_, started, _, _) in found.items() if (p, started) in self._kinds}
        if self._root in found:
            members.add(self._root)
        grown = True
        while grown:
            more = {p for p, (parent, *_) in found.items() if parent in members} - members
            members |= more
            grown = bool(more)
        return members


def _processes():
    """Yield each living process with its parent, start, ticks and resident pages."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # The second field is the command's name, in parentheses; it may hold any character.
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            ticks = int(fields[11]) + int(fields[12])
            yield int(folder.name), (int(fields[1]), fields[19], ticks, int(fields[21]))


def _kind(process):
    try:
        command = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")[0]
    except OSError:
        return None
    name = os.path.basename(command.decode(errors="replace"))
    return "java" if name == "java" else "python" if name.startswith("python") else name


def observe(command, *, env, cwd, folder, warm_up, seconds):
    """Run a command from its first note through a warm-up for so many seconds; return samples.

    The command ends when its input does.

    Args:
        command: what to run.
        env: its environment.
        cwd: its working folder.
        folder: where its notes appear.
        warm_up: seconds that do not count.
        seconds: how long samples are taken after that.

    Raises:
        CommandFailed: if it ends by itself, or has nothing to say.
    """
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            command, env=env, cwd=cwd, stdin=subprocess.PIPE, stdout=output, stderr=output
        )
        family = Family(process.pid)
        try:
            _until(process, family, _START_SECONDS, lambda: _has_notes(folder), output)
            _until(process, family, warm_up, None, output)
            samples = _until(process, family, seconds, None, output)
            process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_STOP_SECONDS)
        finally:
            family.kill()
            process.wait()
        return samples


def _has_notes(folder):
    return any(path.stat().st_size for path in folder.glob("*.jsonl"))


def _until(process, family, seconds, reached, output):
    samples = []
    deadline = time.monotonic() + seconds
    while not (reached and reached()):
        if process.poll() is not None or (reached and time.monotonic() > deadline):
            output.seek(0)
            tail = "\n".join(output.read().splitlines()[-40:])
            raise CommandFailed(f"{' '.join(map(str, process.args))} went wrong:\n{tail}")
        if time.monotonic() > deadline:
            break
        samples.append(family.sample())
        time.sleep(_STEP_SECONDS)
    return samples
