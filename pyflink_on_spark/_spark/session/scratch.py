"""One private folder for everything temporary of this process's Spark, gone after it."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from pathlib import Path

_LOCK = threading.Lock()
_folders: dict[int, Path] = {}


def scratch_folder() -> Path:
    """Return the folder of this process, made when first asked for; only its user can read it."""
    with _LOCK:
        process = os.getpid()
        if process not in _folders or not _folders[process].is_dir():
            _folders[process] = Path(tempfile.mkdtemp(prefix="pyflink-on-spark-")).resolve()
        return _folders[process]


def scratch_subfolder(name: str) -> Path:
    """Return a folder inside the scratch folder, made if need be.

    Args:
        name: its name.
    """
    folder = scratch_folder() / name
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def remove_scratch_folder() -> None:
    """Remove the folder with all that is in it; what is in the way is left."""
    with _LOCK:
        folder = _folders.pop(os.getpid(), None)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
