"""Which run of a program owns the checkpoints in a folder.

A run that starts from a checkpoint takes over what the run that wrote it would still have
committed. It leaves its job id in a file beside that checkpoint. The older run, which may only seem
to have ended, looks for the file before it completes or commits anything, and fails for good.
"""

from __future__ import annotations

import errno
import logging

from pyflink_on_spark._compat.errors import CheckpointError, JobExecutionError
from pyflink_on_spark._runtime.checkpoints.folder import Folder

OWNER = "_owner"
_log = logging.getLogger("pyflink_on_spark")


class JobTakenOverError(JobExecutionError):
    """Another run has continued the job: this run must not commit anything any more."""


class Ownership:
    """What one run owns.

    Args:
        job_id: the id of the run's job.
        home: the folder of its checkpoints; None if they are in memory.
    """

    def __init__(self, job_id: str, home: Folder | None) -> None:
        self._job_id, self._home = job_id, home
        self._taken: Folder | None = None
        self._predecessor: str | None = None

    def take_over(self, home: Folder) -> None:
        """Become the owner of the checkpoints of an older run.

        Args:
            home: the folder that they are in; it may be read-only.

        Raises:
            CheckpointError: nothing can be written there for now.
        """
        self._taken = home
        try:
            home.write(OWNER, self._job_id.encode())
        except OSError as error:
            if not isinstance(error, PermissionError) and error.errno != errno.EROFS:
                raise CheckpointError(
                    f"cannot take over the checkpoints in {home.shown}: {error}"
                ) from error
            self._predecessor = _owner(home)
            _log.warning(
                "the owner of the checkpoints in %s cannot be noted there, so an older run that "
                "only seems to have ended would not notice this one: %s",
                home.shown,
                error,
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
        for home in (self._home, self._taken):
            owner = None if home is None else _owner(home)
            if owner not in (None, self._job_id, self._predecessor):
                assert home is not None
                raise JobTakenOverError(
                    f"the job {owner} has continued from a checkpoint in {home.shown}, so the job "
                    f"{self._job_id} ends, and commits nothing more. To run a copy beside a job, "
                    "start it from a savepoint."
                )

    @property
    def lost(self) -> bool:
        """Whether another run has continued the job, as far as the folder can be read."""
        try:
            self.confirm()
        except JobTakenOverError:
            return True
        except OSError as error:
            _log.warning("the owner of the job's checkpoints cannot be read: %s", error)
        return False


def _owner(home: Folder) -> str | None:
    try:
        return home.read(OWNER).decode(errors="replace")
    except FileNotFoundError:
        return None
