"""What the Python functions of tables need in the workers."""

from __future__ import annotations

from pyflink_on_spark._options import python
from pyflink_on_spark.datastream.stream_execution_environment.dependencies import (
    archive_text,
    put_first,
    put_last,
    requirements_text,
)
from pyflink_on_spark.table.table_config import TableConfig


class FunctionDependencies:
    """The part of a TableEnvironment that describes the dependencies of its jobs."""

    _config: TableConfig

    def add_python_file(self, file_path: str):
        """Make Python modules importable in the workers.

        Args:
            file_path: a module; or a folder or a zip, with the modules and packages inside it.
        """
        put_first(self._config.get_configuration(), python.FILES, file_path)

    def set_python_requirements(
        self, requirements_file_path: str, requirements_cache_dir: str | None = None
    ):
        """Install packages for the workers.

        Args:
            requirements_file_path: what to install, in the form of ``pip install -r``.
            requirements_cache_dir: a folder with the packages; if given, pip asks no index.
        """
        text = requirements_text(requirements_file_path, requirements_cache_dir)
        self._config.get_configuration()._write(python.REQUIREMENTS, text)

    def add_python_archive(self, archive_path: str, target_dir: str | None = None):
        """Unpack a zip in the working directory of the workers.

        Args:
            archive_path: the file; with the suffix of a tar file it may be one, too.
            target_dir: the folder to unpack it in; the archive's name if not given.
        """
        text = archive_text(archive_path, target_dir)
        put_last(self._config.get_configuration(), python.ARCHIVES, text)
