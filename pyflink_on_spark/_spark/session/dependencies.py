"""Ships a job's dependencies to Spark's Python workers, and chooses their interpreter."""

from __future__ import annotations

import functools
import glob
import hashlib
import marshal
import os
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.machinery import SourceFileLoader
from importlib.util import MAGIC_NUMBER, source_hash
from pathlib import Path

import cloudpickle
from pyspark import SparkFiles
from pyspark.sql import SparkSession

from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._options import python
from pyflink_on_spark._runtime.user_code import (
    DependencyFolder,
    FolderKind,
    PythonDependencies,
    lay_out,
)
from pyflink_on_spark._spark.session.session import INTERPRETER
from pyflink_on_spark._spark.session.spark_defaults import (
    PACKAGE_ROOT,
    command_line,
    is_local,
    master_of,
    scratch_subfolder,
)
from pyflink_on_spark.version import __version__

_FOLDER = "dependencies"
_shipped: set[tuple[str, str]] = set()


@dataclass(frozen=True)
class ShippedDependencies:
    """The dependencies that Spark has distributed to the workers; travels inside a task.

    Args:
        folders: as they are in the driver.
    """

    folders: tuple[DependencyFolder, ...] = ()

    def here(self) -> list[DependencyFolder]:
        """Return the folders as they are in this process's place: a worker, or the driver."""
        return [replace(folder, path=_placed(folder.name)) for folder in self.folders]


def _placed(name: str) -> str:
    """Return where Spark has put a folder whose name says what it has.

    A Spark Connect server has a folder for the files of each session, and names the one above to
    tasks with state.
    """
    path = SparkFiles.get(name)
    if os.path.exists(path):
        return path
    above = glob.escape(SparkFiles.getRootDirectory())
    return next(iter(glob.glob(os.path.join(above, "*", name))), path)


@dataclass(frozen=True)
class PlacedDependencies(ShippedDependencies):
    """The dependencies for a process without Spark's files, beside one that has them.

    Their folders are as they are on this machine.
    """

    def here(self) -> list[DependencyFolder]:
        """Return the folders."""
        return list(self.folders)


def spark_settings(configuration: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of the Spark session for a job's configuration.

    Raises:
        EnvironmentSetupError: if the workers' interpreter does not exist.
    """
    wished = {key: value for key, value in configuration.items() if key.startswith("spark.")}
    settings = command_line | wished
    executable = python.EXECUTABLE.read(configuration)
    if executable and is_local(master_of(settings)):
        settings.setdefault(INTERPRETER, _interpreter(executable, configuration))
    elif executable:
        settings.setdefault(INTERPRETER, executable)
        settings.setdefault("spark.archives", _archives_for_spark(configuration))
    return settings


def ship(session: SparkSession, configuration: Mapping[str, str]) -> ShippedDependencies:
    """Have Spark ship the dependencies in a job's configuration to all workers.

    Raises:
        FileNotFoundError: if something that is named does not exist.
        EnvironmentSetupError: if pip fails, or an archive cannot be read.
    """
    dependencies = PythonDependencies.of(configuration)
    interpreter = session.sparkContext.pythonExec
    if shutil.which(interpreter) is None:  # it is one of the workers' machines
        interpreter = sys.executable
    folders = lay_out(dependencies, scratch_subfolder(_FOLDER), interpreter)
    for folder in folders:
        _ship(session, folder)
    return ShippedDependencies(tuple(folders))


def _ship(session: SparkSession, folder: DependencyFolder) -> None:
    context = session.sparkContext
    shipped = (context.applicationId, folder.name)
    if shipped in _shipped:
        return
    packed = f"{folder.path}.tar"
    with tarfile.open(packed, "w") as archive:
        for name in sorted(os.listdir(folder.path)):
            archive.add(os.path.join(folder.path, name), name)
    context.addArchive(f"{packed}#{folder.name}")
    _shipped.add(shipped)


def _interpreter(executable: str, configuration: Mapping[str, str]) -> str:
    """Return the path of an interpreter on this machine; it may come out of an archive."""
    dependencies = PythonDependencies.of(configuration)
    top = executable.partition("/")[0]
    if any(archive.target.partition("/")[0] == top for archive in dependencies.archives):
        base = scratch_subfolder(_FOLDER)
        only_archives = replace(dependencies, files=(), requirements=None)
        [unpacked] = lay_out(only_archives, base, sys.executable)
        assert unpacked.kind is FolderKind.ARCHIVES
        executable = os.path.join(unpacked.path, executable)
    found = shutil.which(executable)
    if found is None:
        raise EnvironmentSetupError(
            f"{python.EXECUTABLE.key} (set_python_executable) names no program that can be run: "
            f"{executable}"
        )
    return os.path.abspath(found)


def _archives_for_spark(configuration: Mapping[str, str]) -> str:
    archives = PythonDependencies.of(configuration).archives
    return ",".join(f"{archive.path}#{archive.target}" for archive in archives)


_shipped_package: set[str] = set()


def ship_own_package(session: SparkSession) -> None:
    """Have Spark ship this package, and its libraries beside pyarrow, to workers elsewhere.

    Theirs is then the driver's version, whatever they have. Nothing happens where workers are on
    the driver's machine.
    """
    context = session.sparkContext
    if is_local(context.master) or context.applicationId in _shipped_package:
        return
    context.addPyFile(str(packed_package()))
    _shipped_package.add(context.applicationId)


@functools.cache
def packed_package() -> Path:
    """Return a zip file with this package and its libraries beside pyarrow; its name is unique.

    The zip file has the compiled code too: Python keeps none for modules of zip files, and each
    new worker would compile all that it imports.
    """
    packed = scratch_subfolder("package") / f"pyflink_on_spark-{__version__}.zip"
    packages = (PACKAGE_ROOT / "pyflink_on_spark", Path(cloudpickle.__file__).parent)
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for package in packages:
            for file in sorted(package.rglob("*")):
                name = file.relative_to(package.parent)
                if file.is_file() and file.suffix != ".pyc":
                    archive.write(file, name)
                if file.suffix == ".py":
                    archive.writestr(str(name.with_suffix(".pyc")), _compiled(file))
    digest = hashlib.sha256(packed.read_bytes()).hexdigest()
    return packed.rename(packed.with_name(f"{packed.stem}-{digest[:16]}.zip"))


def _compiled(file: Path) -> bytes:
    """Return the compiled file of a module, which Python takes without a check."""
    code = SourceFileLoader(file.stem, str(file)).get_code(file.stem)
    flags = (1).to_bytes(4, "little")
    return MAGIC_NUMBER + flags + source_hash(file.read_bytes()) + marshal.dumps(code)
