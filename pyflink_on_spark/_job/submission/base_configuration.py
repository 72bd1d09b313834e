"""The base configuration of each environment: the file, and the command line over it.

A program's own settings win over both.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pyflink_on_spark._options.families import family_reason
from pyflink_on_spark._options.option_text import option_text
from pyflink_on_spark._options.registry import find_option
from pyflink_on_spark._options.yaml_text import parse_yaml

FOLDER_VARIABLE = "FLINK_CONF_DIR"
"""The environment variable that names the folder of the file, as for Flink."""
_NAMES = ("config.yaml", "flink-conf.yaml")


def read_configuration_folder(folder: Path) -> dict[str, str]:
    """Return the options of the configuration file in a folder.

    Args:
        folder: has a ``config.yaml``, or else a ``flink-conf.yaml``.

    Raises:
        ValueError: there is no such file, or it cannot be read.
    """
    for name in _NAMES:
        file = folder / name
        if file.is_file():
            return _read_file(file)
    raise ValueError(
        f"{FOLDER_VARIABLE} is {folder}, and there is no {' and no '.join(_NAMES)} in it"
    )


def _read_file(file: Path) -> dict[str, str]:
    try:
        text = file.read_text(encoding="utf-8")
        return dict(_lines(text) if file.name == _NAMES[1] else _flat("", _tree(text)))
    except (OSError, ValueError) as error:
        raise ValueError(f"cannot read {file}: {error}") from error


def _tree(text: str) -> Mapping[Any, Any]:
    tree = parse_yaml(text)
    if tree is None:
        return {}
    if not isinstance(tree, Mapping):
        raise ValueError("it is not a map of options")
    return tree


def _flat(prefix: str, tree: Mapping[Any, Any]) -> Iterator[tuple[str, str]]:
    """Yield the options of a tree of maps; their keys have a dot for each step."""
    for name, value in tree.items():
        key = f"{prefix}{name}"
        if isinstance(value, Mapping):
            yield from _flat(f"{key}.", value)
        elif value is None:
            raise ValueError(f"the option {key} has no value")
        else:
            yield key, option_text(value)


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield the options of ``key: value`` lines; other lines say nothing, as for Flink."""
    for line in text.splitlines():
        key, colon, value = line.partition("#")[0].partition(": ")
        if colon and key.strip() and value.strip():
            yield key.strip(), value.strip()


_log = logging.getLogger("pyflink_on_spark")
_base: dict[str, str] = {}


def base_configuration() -> dict[str, str]:
    """Return the configuration of an environment before its program changes it."""
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
