"""The ownership of the checkpoints in a folder: which run of a program may write there.

A run that starts from a checkpoint takes over what the run that wrote it would still have
committed. It leaves its job id, the name of the checkpoint, its program and the time in a file
beside that checkpoint. The older run, which may only seem to have ended, looks for the file before
it completes, commits or removes anything, and fails for good. A program that was suspended before
it read the checkpoint finds a file that is younger than the program, and does not start.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import logging
import os
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pyflink_on_spark._compat.errors import CheckpointError, JobExecutionError
from pyflink_on_spark._runtime.checkpoints.checkpoint import METADATA, OWNER
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import Folder
from pyflink_on_spark._runtime.elements.time import Clock

_log = logging.getLogger("pyflink_on_spark")
_IMPORTED = time.time()
_START_FIELD = 19
"""The place of a process's start among what follows its command in ``/proc/PID/stat``."""
_CLOCKS_DIFFER = 60_000
"""By how much clocks of two machines may differ, in ms."""


class Moment(NamedTuple):
    """A moment by the clock that a machine starts when it boots, and that nobody can set.

    Args:
        boot: names the machine, and the time since it has booted.
        since: ms since then.
    """

    boot: str
    since: int


@dataclass(frozen=True)
class Program:
    """The process of a driver.

    Args:
        token: the name of the process, which no other process has.
        begun: the time when the process was started, in ms since the epoch.
        moment: the same by the clock of the machine; None if the system does not tell.
    """

    token: str
    begun: int
    moment: Moment | None = None


@functools.cache
def this_program() -> Program:
    """Return the present process; its time is that of this import where the system tells none."""
    token, now = uuid.uuid4().hex, this_moment()
    if now is None:
        return Program(token, int(1000 * _IMPORTED))
    _, _, rest = Path("/proc/self/stat").read_text().rpartition(")")
    since = 1000 * int(rest.split()[_START_FIELD]) // os.sysconf("SC_CLK_TCK")
    return Program(token, int(1000 * time.time()) - (now.since - since), Moment(now.boot, since))


def this_moment() -> Moment | None:
    """Return the present moment; None if the system does not tell (it is not Linux)."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        since = int(1000 * time.clock_gettime(time.CLOCK_BOOTTIME))
        Path("/proc/self/stat").read_bytes()
    except (OSError, AttributeError):
        return None
    with contextlib.suppress(OSError):  # containers may have clocks of their own
        boot += os.readlink("/proc/self/ns/time")
    return Moment(boot, since)


class JobTakenOverError(JobExecutionError):
    """Another run has continued the job: this run must not commit anything any more.

    ``checkpoint`` is the URI of the one that the other run has started from.
    """

    checkpoint: str = ""


class Ownership:
    """The ownership of a run: the job, and the folder of its checkpoints.

    Args:
        job_id: the id of the run's job.
        home: the folder of its checkpoints; None if they are in memory.
        clock: the time of a takeover.
        program: the process of the driver.
    """

    def __init__(self, job_id: str, home: Folder | None, clock: Clock, program: Program) -> None:
        self._job_id, self._home = job_id, home
        self._clock, self._program = clock, program
        self._taken: Folder | None = None
        self._predecessor: _Owner | None = None
        self._complete: set[str] = set()

    def look(self, checkpoint: Folder) -> None:
        """Note who owns a checkpoint, and which others there are, before it is read.

        Raises:
            JobTakenOverError: another program has taken them over since this one was started.
        """
        self._taken = home = checkpoint.parent()
        owner = _owner(home)
        another = owner is not None and owner.job_id != self._job_id
        if owner and another and owner.is_younger_than(self._program, self._clock.now()):
            raise JobTakenOverError(
                f"the job {owner.job_id} has continued from {owner.checkpoint} in {home.shown} "
                f"since this program was started, so the job {self._job_id} does not start. Start "
                "the program again, from the latest checkpoint. To run a copy beside a job, start "
                "it from a savepoint."
            )
        self._predecessor = owner
        self._complete = _complete_ones(home)

    def take_over(self, checkpoint: Folder) -> None:
        """Become the owner of the checkpoints of an older run.

        Args:
            checkpoint: the one to start from, after ``look``; its parent may be read-only.

        Raises:
            CheckpointError: nothing can be written there for now, or the older run has continued
                since ``look``.
            JobTakenOverError: another run has taken them over since ``look``.
        """
        self.confirm()
        home = checkpoint.parent()
        try:
            token, now = self._program.token, self._clock.now()
            owner = _Owner(self._job_id, checkpoint.name, token, now, this_moment())
            home.write(OWNER, owner.to_bytes())
            self._predecessor = None
        except OSError as error:
            if not isinstance(error, PermissionError) and error.errno != errno.EROFS:
                raise CheckpointError(
                    f"cannot take over the checkpoints in {home.shown}: {error}"
                ) from error
            _log.warning(
                "the owner of the checkpoints in %s cannot be noted there, so an older run that "
                "only seems to have ended would not notice this one: %s",
                home.shown,
                error,
            )
        if _complete_ones(home) != self._complete:
            raise CheckpointError(
                f"the job that has written {checkpoint.shown} was still running, and has changed "
                "its checkpoints meanwhile: start again from its latest one"
            )

    def has_checkpoint(self) -> None:
        """Note that the run has a checkpoint of its own: a third run would start from that one."""
        self._taken = None

    def confirm(self) -> None:
        """Check that no other run has continued the job.

        Raises:
            JobTakenOverError: one has.
            OSError: the folder cannot be read.
        """
        for home in filter(None, (self._home, self._taken)):
            owner = _owner(home)
            if owner is not None and owner != self._predecessor and owner.job_id != self._job_id:
                error = JobTakenOverError(
                    f"the job {owner.job_id} has continued from a checkpoint in {home.shown}, so "
                    f"the job {self._job_id} ends, and commits nothing more. To run a copy beside "
                    "a job, start it from a savepoint."
                )
                error.checkpoint = home.inside(owner.checkpoint).uri
                raise error

    @property
    def lost(self) -> bool:
        """True if another run has continued the job, as far as the folder can be read."""
        try:
            self.confirm()
        except JobTakenOverError:
            return True
        except OSError as error:
            _log.warning("the owner of the job's checkpoints cannot be read: %s", error)
        return False


@dataclass(frozen=True)
class _Owner:
    """The record of the owner of checkpoints.

    Args:
        job_id: the id of the job.
        checkpoint: the name of the checkpoint that it started from.
        program: the token of its program.
        time: when it started from there, in ms since the epoch.
        moment: the same by the clock of its machine, or None.
    """

    job_id: str
    checkpoint: str
    program: str = ""
    time: int = 0
    moment: Moment | None = None

    @classmethod
    def from_bytes(cls, content: bytes) -> _Owner:
        """Read a record; a damaged one has neither a program nor a time."""
        lines = content.decode(errors="replace").split("\n")
        job_id, checkpoint, program, at, boot, since = (*lines, *[""] * 5)[:6]
        moment = Moment(boot, int(since)) if boot and since.isdecimal() else None
        return cls(job_id, checkpoint, program, int(at) if at.isdecimal() else 0, moment)

    def to_bytes(self) -> bytes:
        """Return the content of the file."""
        boot, since = self.moment or ("", "")
        lines = (self.job_id, self.checkpoint, self.program, self.time, boot, since)
        return "\n".join(map(str, lines)).encode()

    def is_younger_than(self, program: Program, now: int) -> bool:
        """True if another program has become the owner since a program was started.

        On one machine the clock decides that nobody can set.

        Args:
            program: the process that wants to start.
            now: the time, in ms since the epoch. A record of a later time says nothing: the clock
                has been set back.
        """
        if self.program == program.token:
            return False
        here, there = program.moment, self.moment
        if here is not None and there is not None and here.boot == there.boot:
            return here.since < there.since
        return program.begun < self.time <= now + _CLOCKS_DIFFER


def _complete_ones(home: Folder) -> set[str]:
    names = [name for name in home.names() if name.startswith("chk-")]
    return {name for name in names if METADATA in home.inside(name).names()}


def _owner(home: Folder) -> _Owner | None:
    try:
        return _Owner.from_bytes(home.read(OWNER))
    except FileNotFoundError:
        return None
