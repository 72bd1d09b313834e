"""The ownership of the checkpoints in a folder: which run of a program may write there.

A run that starts from a checkpoint takes over what the run that wrote it would still have
committed. It leaves its job id, and the name of the checkpoint, in a file beside that checkpoint.
The older run, which may only seem to have ended, looks for the file before it completes, commits or
removes anything, and fails for good.
"""

from __future__ import annotations

import errno
import logging
from dataclasses import dataclass

from pyflink_on_spark._compat.errors import CheckpointError, JobExecutionError
from pyflink_on_spark._runtime.checkpoints.checkpoint import METADATA
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import Folder

OWNER = "_owner"
_log = logging.getLogger("pyflink_on_spark")


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
    """

    def __init__(self, job_id: str, home: Folder | None) -> None:
        self._job_id, self._home = job_id, home
        self._taken: Folder | None = None
        self._predecessor: _Owner | None = None
        self._complete: set[str] = set()

    def look(self, checkpoint: Folder) -> None:
        """Note who owns a checkpoint, and which others there are, before it is read."""
        self._taken = checkpoint.parent()
        self._predecessor = _owner(self._taken)
        self._complete = _complete_ones(self._taken)

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
            home.write(OWNER, f"{self._job_id}\n{checkpoint.name}".encode())
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
    """

    job_id: str
    checkpoint: str


def _complete_ones(home: Folder) -> set[str]:
    names = [name for name in home.names() if name.startswith("chk-")]
    return {name for name in names if METADATA in home.inside(name).names()}


def _owner(home: Folder) -> _Owner | None:
    try:
        text = home.read(OWNER).decode(errors="replace")
    except FileNotFoundError:
        return None
    job_id, _, checkpoint = text.partition("\n")
    return _Owner(job_id, checkpoint)
