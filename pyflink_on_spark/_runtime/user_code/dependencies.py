"""The dependencies of a job's functions: Python files, packages and archives."""

from __future__ import annotations

import contextlib
import enum
import hashlib
import importlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._filesystem.location import local_path
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
    """The requirements to install: a file for ``pip -r``, and a folder of packages or None."""

    path: str
    packages: str | None = None


@dataclass(frozen=True)
class PythonDependencies:
    """The Python dependencies that a configuration names.

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
        """Return the dependencies that the options of a configuration name.

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


_PIP_LINES = 15
_lock = threading.Lock()


class FolderKind(enum.Enum):
    """The content of a folder: modules, installed packages, or unpacked archives."""

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
    """Yield the names, sizes and times of files: they change when the content does."""
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
