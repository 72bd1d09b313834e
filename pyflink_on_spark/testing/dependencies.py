"""What a job in this process takes along."""

from __future__ import annotations

import functools
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pyflink_on_spark._runtime.user_code.dependency_folders import DependencyFolder, lay_out
from pyflink_on_spark._runtime.user_code.python_dependencies import PythonDependencies


def job_dependencies(configuration: Mapping[str, str]) -> list[DependencyFolder]:
    """Lay out what a configuration names, in a temporary folder of this process.

    Raises:
        FileNotFoundError: if something that is named does not exist.
        EnvironmentSetupError: if pip fails, or an archive cannot be read.
    """
    dependencies = PythonDependencies.of(configuration)
    if dependencies == PythonDependencies():
        return []
    return lay_out(dependencies, Path(_folder().name), sys.executable)


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="pyflink-on-spark-")
