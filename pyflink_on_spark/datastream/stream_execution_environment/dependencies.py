"""The dependencies of an environment's jobs: Python files, archives, packages, jars."""

from __future__ import annotations

from pyflink_on_spark._compat.recorded import note_recorded
from pyflink_on_spark._filesystem.location import local_path
from pyflink_on_spark._options import flink, python
from pyflink_on_spark._options.option import Option
from pyflink_on_spark._options.registry import note_option
from pyflink_on_spark._runtime.user_code.dependencies import (
    DELIMITER,
    PARAMETER_DELIMITER,
    require,
)
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.common.configuration import values_of
from pyflink_on_spark.datastream.stream_execution_environment.settings import GeneralSettings


class Dependencies(GeneralSettings):
    """The part of an environment that describes the dependencies of its jobs.

    Everything is kept in the configuration, and looked at when a job is started.
    """

    _cached_files: dict[str, str]

    def add_jars(self, *jars_path: str) -> None:
        """Name jars of Flink connectors. On Spark: recorded; this package needs no jars."""
        self._append_to_list(flink.JARS, jars_path)

    def add_classpaths(self, *classpaths: str) -> None:
        """Name class paths of Flink connectors. On Spark: recorded, as ``add_jars``."""
        self._append_to_list(flink.CLASSPATHS, classpaths)

    def add_python_file(self, file_path: str) -> None:
        """Make Python modules importable in the workers.

        Args:
            file_path: a module; or a folder or a zip, with the modules and packages inside it.

        On Spark: a path on this machine; a missing one fails the job when it is started.
        """
        put_first(self._configuration, python.FILES, file_path)

    def set_python_requirements(
        self, requirements_file_path: str, requirements_cache_dir: str | None = None
    ) -> None:
        """Install packages for the workers.

        Args:
            requirements_file_path: what to install, in the form of ``pip install -r``.
            requirements_cache_dir: a folder with the packages; if given, pip asks no index.

        On Spark: pip installs them once, in this process's temporary folder, and the workers are
        sent the result. So they must fit the workers' platform.
        """
        text = requirements_text(requirements_file_path, requirements_cache_dir)
        python.REQUIREMENTS.write(values_of(self._configuration), text)

    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        """Unpack a zip in the working directory of the workers.

        Args:
            archive_path: the file; with the suffix of a tar file it may be one, too.
            target_dir: the folder to unpack it in; the archive's name if not given.
        """
        put_last(self._configuration, python.ARCHIVES, archive_text(archive_path, target_dir))

    def set_python_executable(self, python_exec: str) -> None:
        """Choose the interpreter of the workers.

        Args:
            python_exec: its path; also one inside an archive that was added before.

        On Spark: it counts when the first job of the process starts Spark, and needs what this
        package needs (PySpark, pyarrow, cloudpickle). A Spark that runs already keeps its own, and
        the log says so.
        """
        python.EXECUTABLE.write(values_of(self._configuration), python_exec)

    def register_cached_file(self, file_path: str, name: str, executable: bool = False) -> None:
        """Name a file for Flink's distributed cache.

        Args:
            file_path: the file.
            name: the name in the cache.
            executable: whether it is a program.

        On Spark: recorded; a missing file fails the job when it is started, as in PyFlink. Python
        functions cannot read the cache in PyFlink either.
        """
        self._cached_files[name] = file_path
        note_recorded(
            "register_cached_file()",
            "PyFlink gives Python functions no way to read such a file either; "
            "add_python_archive() sends files that they can open",
        )

    def _check_cached_files(self) -> None:
        for name, path in self._cached_files.items():
            require(local_path(path), f"register_cached_file(..., {name!r})")

    def _append_to_list(self, option: Option[str], items: tuple[str, ...]) -> None:
        known = Configuration.parse_list_value(option.read(values_of(self._configuration)))
        option.write(values_of(self._configuration), str([*known, *items]))
        note_option(values_of(self._configuration), option)


def requirements_text(requirements_file: str, cache_dir: str | None) -> str:
    """Return the value of the option for requirements and the folder with their packages."""
    return PARAMETER_DELIMITER.join(filter(None, [requirements_file, cache_dir]))


def archive_text(archive: str, target_dir: str | None) -> str:
    """Return an item of the option for archives."""
    return PARAMETER_DELIMITER.join(filter(None, [archive, target_dir]))


def put_first(configuration: Configuration, option: Option[str], item: str) -> None:
    """Add an item at the beginning of the list that an option holds."""
    known = option.read(values_of(configuration))
    option.write(values_of(configuration), DELIMITER.join(filter(None, [item, known])))


def put_last(configuration: Configuration, option: Option[str], item: str) -> None:
    """Add an item at the end of the list that an option holds."""
    known = option.read(values_of(configuration))
    option.write(values_of(configuration), DELIMITER.join(filter(None, [known, item])))
