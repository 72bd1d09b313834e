"""What the configuration of each environment begins with: the file, and the command line over it.

A program's own settings win over both.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path

from pyflink_on_spark._job.submission.configuration_file import (
    FOLDER_VARIABLE,
    read_configuration_folder,
)
from pyflink_on_spark._options.families import family_reason
from pyflink_on_spark._options.registry import find_option

_log = logging.getLogger("pyflink_on_spark")
_base: dict[str, str] = {}


def base_configuration() -> dict[str, str]:
    """Return what an environment is configured with before its program says anything."""
    return dict(_base)


def set_base_configuration(command_line: Mapping[str, str]) -> None:
    """Take over the options of the command line, and of the file in ``FLINK_CONF_DIR``.

    Args:
        command_line: its options win over those of the file.

    Raises:
        ValueError: the file is missing, or cannot be read.
    """
    _base.clear()
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder:
        _base.update(_known(folder, read_configuration_folder(Path(folder))))
    _base.update(command_line)


def _known(folder: str, values: Mapping[str, str]) -> dict[str, str]:
    """Leave out the options of Flink's cluster: its file is full of them."""
    unread = [key for key in sorted(values) if find_option(key) is None and family_reason(key)]
    if unread:
        _log.info("these options in %s have no effect on Spark: %s", folder, ", ".join(unread))
    return {key: value for key, value in values.items() if key not in unread}
