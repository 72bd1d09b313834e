"""Lays out in folders what a job takes along: as it is in the driver, so it is in the workers."""

from __future__ import annotations

import enum
import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._runtime.user_code.python_dependencies import (
    Archive,
    PythonDependencies,
    Requirements,
)

_PIP_LINES = 15
_lock = threading.Lock()


class FolderKind(enum.Enum):
    """What is in a folder: modules, installed packages, or what archives had in them."""

    MODULES = "modules"
    PACKAGES = "packages"
    ARCHIVES = "archives"


@dataclass(frozen=True)
class DependencyFolder:
    """A folder that workers need.

    Args:
        kind: what is in it.
        path: where it is.
        search: the sub-folders to import from.
    """

    kind: FolderKind
    path: str
    search: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """A name that tells it from every other."""
        return os.path.basename(self.path)


def lay_out(
    dependencies: PythonDependencies, base: Path, interpreter: str
) -> list[DependencyFolder]:
    """Return folders with all that some dependencies name; those that exist are used again.

    Args:
        dependencies: what is needed.
        base: where the folders are made.
        interpreter: the Python whose pip installs.

    Raises:
        EnvironmentSetupError: if pip fails, or an archive cannot be read.
    """
    folders: list[DependencyFolder] = []
    with _lock:
        if files := dependencies.files:
            path = _folder(base, FolderKind.MODULES, files, "", lambda into: _place(files, into))
            search = tuple(str(number) for number in range(len(files)))
            folders.append(DependencyFolder(FolderKind.MODULES, path, search))
        if wanted := dependencies.requirements:
            inputs = [wanted.path, *([wanted.packages] if wanted.packages else [])]
            path = _folder(
                base,
                FolderKind.PACKAGES,
                inputs,
                interpreter,
                lambda into: _install(wanted, into, interpreter),
            )
            folders.append(DependencyFolder(FolderKind.PACKAGES, path, (".",)))
        if archives := dependencies.archives:
            path = _folder(
                base,
                FolderKind.ARCHIVES,
                [archive.path for archive in archives],
                str(archives),
                lambda into: _unpack_all(archives, into),
            )
            folders.append(DependencyFolder(FolderKind.ARCHIVES, path))
    return folders


def _folder(
    base: Path,
    kind: FolderKind,
    inputs: tuple[str, ...] | list[str],
    salt: str,
    fill: Callable[[Path], None],
) -> str:
    """Return a folder that is named after what goes into it, filled if it is not there yet."""
    digest = hashlib.sha256(salt.encode())
    for path in inputs:
        for line in _fingerprint(Path(path)):
            digest.update(line.encode(errors="surrogateescape"))
    folder = base / f"{kind.value}-{digest.hexdigest()[:24]}"
    if not folder.is_dir():
        unfinished = Path(tempfile.mkdtemp(dir=base))
        try:
            fill(unfinished)
            unfinished.rename(folder)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
    return str(folder)


def _fingerprint(path: Path) -> Iterator[str]:
    """Tell one state of a file or folder from another."""
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    yield f"{path}\n"
    for file in files:
        if "__pycache__" not in file.parts:
            status = file.stat()
            yield f"{file} {status.st_size} {status.st_mtime_ns}\n"


def _place(files: tuple[str, ...], into: Path) -> None:
    for number, path in enumerate(files):
        target = into / str(number)
        if os.path.isdir(path):
            shutil.copytree(path, target, ignore=shutil.ignore_patterns("__pycache__"))
        elif zipfile.is_zipfile(path):
            _unpack(path, target)
        else:
            target.mkdir()
            shutil.copy(path, target)


def _unpack_all(archives: tuple[Archive, ...], into: Path) -> None:
    for archive in archives:
        _unpack(archive.path, into / archive.target)


def _unpack(path: str, target: Path) -> None:
    try:
        target.mkdir(parents=True, exist_ok=True)
        if zipfile.is_zipfile(path):
            _unzip(path, target)
        else:
            with tarfile.open(path) as archive:
                archive.extraction_filter = getattr(tarfile, "tar_filter", None)
                archive.extractall(target)
    except (OSError, zipfile.BadZipFile, tarfile.TarError) as error:
        raise EnvironmentSetupError(f"the archive {path} cannot be unpacked: {error}") from error


def _unzip(path: str, target: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            written = archive.extract(member, target)
            mode = member.external_attr >> 16 & 0o777
            if mode and not member.is_dir():  # programs stay programs
                os.chmod(written, mode | 0o600)


def _install(wanted: Requirements, into: Path, interpreter: str) -> None:
    command = [interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--ignore-installed", "--target", str(into), "--requirement", wanted.path]
    if wanted.packages is not None:
        command += ["--no-index", "--find-links", wanted.packages]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = "\n".join((done.stdout + done.stderr).strip().splitlines()[-_PIP_LINES:])
        raise EnvironmentSetupError(f"pip could not install {wanted.path}; it said:\n{said}")
