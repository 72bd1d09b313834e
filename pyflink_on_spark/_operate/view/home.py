"""The folders in which a user's drivers and shells find each other; nobody else can read them."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

VARIABLE = "PYFLINK_ON_SPARK_HOME"
"""The environment variable that names another folder than ``~/.pyflink-on-spark``."""
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def home() -> Path:
    """Return the folder of this user."""
    return Path(os.environ.get(VARIABLE) or Path.home() / ".pyflink-on-spark")


def jobs_folder() -> Path:
    """Return the folder of the jobs of this user on this machine, made if need be.

    Raises:
        OSError: the folder cannot be made, or is another user's.
    """
    return _private(home() / "jobs" / socket.gethostname())


def log_folder() -> Path:
    """Return the folder of the logs of detached jobs, made if need be.

    Raises:
        OSError: the folder cannot be made, or is another user's.
    """
    return _private(home() / "log")


def _private(folder: Path) -> Path:
    """Make a folder that only this user can enter."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if status.st_uid != os.geteuid():
        raise PermissionError(f"{folder} belongs to another user; set {VARIABLE} to another folder")
    if status.st_mode & _OTHERS:
        folder.chmod(status.st_mode & ~_OTHERS)
    return folder
