"""What a job takes along for its Python workers: modules, archives, packages to install."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pyflink_on_spark._filesystem.local_path import local_path
from pyflink_on_spark._options import python

DELIMITER = ","
PARAMETER_DELIMITER = "#"


@dataclass(frozen=True)
class Archive:
    """A file to unpack in the workers' working directory, in a folder named ``target``."""

    path: str
    target: str


@dataclass(frozen=True)
class Requirements:
    """What pip shall install: a file for ``pip -r``, and where alone packages are, or None."""

    path: str
    packages: str | None = None


@dataclass(frozen=True)
class PythonDependencies:
    """What a configuration says of the Python workers.

    Args:
        files: modules, folders of modules, and zips of modules.
        archives: what to unpack.
        requirements: what to install.
    """

    files: tuple[str, ...] = ()
    archives: tuple[Archive, ...] = ()
    requirements: Requirements | None = None

    @classmethod
    def of(cls, configuration: Mapping[str, str]) -> PythonDependencies:
        """Return what the options of a configuration name.

        Raises:
            FileNotFoundError: something that is named there does not exist.
            UnsupportedFlinkFeature: it is on another file system.
        """
        return cls(
            tuple(
                require(path, python.FILES.key) for path in _items(python.FILES.read(configuration))
            ),
            tuple(_archive(item) for item in _items(python.ARCHIVES.read(configuration))),
            _requirements(python.REQUIREMENTS.read(configuration)),
        )


def require(path: str, wanted_by: str) -> str:
    """Return the absolute path of something that has to exist.

    Args:
        path: as the user gave it.
        wanted_by: the option or the call that names it.

    Raises:
        FileNotFoundError: it does not exist.
    """
    found = local_path(path)
    if not os.path.exists(found):
        raise FileNotFoundError(f"{wanted_by} names a file that does not exist: {path}")
    return found


def _items(text: str) -> Iterator[str]:
    return filter(None, (item.strip() for item in text.split(DELIMITER)))


def _archive(text: str) -> Archive:
    path, _, target = text.partition(PARAMETER_DELIMITER)
    target = target or os.path.basename(path)
    if os.path.isabs(target) or ".." in target.split("/"):
        raise ValueError(
            f"{python.ARCHIVES.key}: {target!r} is not a folder inside the working directory"
        )
    return Archive(require(path, python.ARCHIVES.key), target)


def _requirements(text: str) -> Requirements | None:
    if not text:
        return None
    path, _, packages = text.partition(PARAMETER_DELIMITER)
    found = require(path, python.REQUIREMENTS.key)
    return Requirements(found, require(packages, python.REQUIREMENTS.key) if packages else None)
