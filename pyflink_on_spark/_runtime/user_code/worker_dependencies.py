"""Makes importable, in the process that runs subtasks, what their job took along."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Iterator, Sequence

from pyflink_on_spark._runtime.user_code.dependency_folders import DependencyFolder, FolderKind

_used: list[DependencyFolder] = []
_loaded_from: dict[FolderKind, DependencyFolder] = {}


@contextlib.contextmanager
def in_use(folders: Sequence[DependencyFolder]) -> Iterator[None]:
    """Import from these folders, and be in the one that has the archives.

    A worker process is used again by other jobs, which may bring other modules of the same name.

    Args:
        folders: as they are on this machine.
    """
    import_from(folders)
    archives = working_folder(folders)
    before = os.getcwd() if archives else None
    try:
        if archives is not None:
            os.chdir(archives)
        yield
    finally:
        if before is not None:
            os.chdir(before)


def import_from(folders: Sequence[DependencyFolder]) -> None:
    """Import from these folders from now on, before any other, and no more from earlier ones."""
    if list(folders) == _used:
        return
    for entry in search_path(_used):
        with contextlib.suppress(ValueError):
            sys.path.remove(entry)
    for folder in folders:
        earlier = _loaded_from.get(folder.kind)
        if earlier is not None and earlier != folder:
            _unload(earlier.path + os.sep)
        _loaded_from[folder.kind] = folder
    _used[:] = folders
    sys.path[:0] = search_path(folders)
    importlib.invalidate_caches()


def working_folder(folders: Sequence[DependencyFolder]) -> str | None:
    """Return the folder that has the archives, if there are any."""
    archives = (folder.path for folder in folders if folder.kind is FolderKind.ARCHIVES)
    return next(archives, None)


def search_path(folders: Sequence[DependencyFolder]) -> list[str]:
    """Return where to import from."""
    return [
        os.path.normpath(os.path.join(folder.path, entry))
        for folder in folders
        for entry in folder.search
    ]


def _unload(folder: str) -> None:
    """Forget the modules that were imported from a folder."""
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(folder):
            del sys.modules[name]
