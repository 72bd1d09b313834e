"""The modules of others that a script imports: beside it, installed, or missing."""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

from pyflink_on_spark.tools.check.verdict import Status, Verdict

_FOLDERS_ABOVE = 4
_PACKAGES = {
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "kafka": "kafka-python",
    "PIL": "pillow",
    "psycopg2": "psycopg2-binary",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
"""The packages whose modules have another name."""


def missing(name: str, level: int) -> Iterator[tuple[str, Verdict]]:
    """Yield the module that an import needs if it is not installed, or relative.

    Args:
        name: the module, without the dots of a relative import.
        level: how many dots there are.
    """
    top = name.partition(".")[0]
    if level:
        dotted = "." * level + name
        yield dotted, _verdict("Put its file beside the script.")
    elif not _is_installed(top):
        package = _PACKAGES.get(top, top)
        yield (
            top,
            _verdict(f"pip install {package}, or give the script's own module with --pyFiles."),
        )


def own_module(script: str, name: str, level: int = 0) -> Path | None:
    """Return the file or folder of a module beside the script or in a folder above; or None."""
    folder = Path(script).absolute().parent
    folders = [folder, *list(folder.parents)[:_FOLDERS_ABOVE]]
    if level:
        folders = folders[level - 1 : level]
    parts = name.split(".") if name else []
    for each in folders:
        place = each.joinpath(*parts) if level else each.joinpath(parts[0])
        file = place.with_name(f"{place.name}.py") if parts else place
        if parts and file.is_file():
            return file
        if place.is_dir() and (level or any(place.rglob("*.py"))):
            return place
    return None


def _verdict(advice: str) -> Verdict:
    return Verdict(Status.MISSING, "The module is neither beside the script nor installed.", advice)


@functools.cache
def _is_installed(top: str) -> bool:
    if top in sys.stdlib_module_names:
        return True
    try:
        return importlib.util.find_spec(top) is not None
    except (ImportError, ValueError):
        return False
