"""The modules that a script imports: those beside it, those that are missing, and fallbacks."""

from __future__ import annotations

import ast
import functools
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

from pyflink_on_spark.tools.check import mirror
from pyflink_on_spark.tools.check.verdict import Status, Verdict

_MISSING = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
_Import = ast.Import | ast.ImportFrom


def imports_with_fallback(statement: ast.Try | ast.TryStar) -> list[_Import]:
    """Return the imports of PyFlink for which a ``try`` has something else where they fail."""
    if not catches_missing_modules(statement):
        return []
    imports = [part for part in statement.body if isinstance(part, _Import)]
    return [part for part in imports if any(map(mirror.is_pyflink, _modules(part)))]


def catches_missing_modules(statement: ast.Try | ast.TryStar) -> bool:
    """True if a script continues where an import in a ``try`` fails."""
    return any(_is_fallback(handler) for handler in statement.handlers)


def _modules(statement: _Import) -> list[str]:
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    return [statement.module or ""]


def _is_fallback(handler: ast.ExceptHandler) -> bool:
    """True for a handler of failed imports after which the script continues."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    caught = any(kind is None or ast.unparse(kind) in _MISSING for kind in kinds)
    ends = any(
        isinstance(node, ast.Raise)
        or (isinstance(node, ast.Call) and ast.unparse(node.func) in {"sys.exit", "exit", "quit"})
        for part in handler.body
        for node in ast.walk(part)
    )
    return caught and not ends


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


def missing_modules(name: str, level: int) -> Iterator[tuple[str, Verdict]]:
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
