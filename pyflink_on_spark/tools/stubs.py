"""Stubs with which editors and type checkers resolve ``pyflink``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import pyflink_on_spark
from pyflink_on_spark._compat.import_hook import OF_THE_JVM, OWN_ONLY
from pyflink_on_spark.tools.commands import parser_of

_DEFAULT = "typings"
_MARK = "# Made by python -m pyflink_on_spark stubs."


def main(arguments: list[str]) -> int:
    """Write stubs.

    Returns:
        0, or 1 if the folder has a ``pyflink`` that is not of this command.
    """
    options = _parser().parse_args(arguments)
    target = Path(options.folder) / "pyflink"
    if not _is_ours(target):
        print(f"stubs: {target} exists, and is not of this command", file=sys.stderr)
        return 1
    count = 0
    for module, name in _modules():
        path = target / Path(*module.split(".")[1:])
        file = path / "__init__.pyi" if _is_package(name) else path.with_suffix(".pyi")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{_MARK}\nfrom {name} import *\n", encoding="utf-8")
        count += 1
    print(f"{count} stubs written to {target}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = parser_of(
        "stubs",
        "Write stubs of pyflink that refer to this package, so that editors and type "
        "checkers resolve the imports of PyFlink scripts.",
        epilog=f"Pyright and Pylance find the folder {_DEFAULT} by themselves; for mypy set "
        f"mypy_path = {_DEFAULT}.",
    )
    parser.add_argument(
        "folder", nargs="?", default=_DEFAULT, metavar="FOLDER", help=f"{_DEFAULT} if not given"
    )
    return parser


def _modules() -> Iterator[tuple[str, str]]:
    """Yield the names of PyFlink's modules, with the names of those that stand for them."""
    root = Path(pyflink_on_spark.__file__).parent
    yield "pyflink", "pyflink_on_spark"
    for file in sorted(root.rglob("*.py")):
        steps = file.relative_to(root).with_suffix("").parts
        steps = steps[:-1] if steps[-1] == "__init__" else steps
        if not steps or any(step.startswith("_") for step in steps):
            continue
        if steps[0] not in OWN_ONLY | OF_THE_JVM | {"testing"}:
            path = ".".join(steps)
            yield f"pyflink.{path}", f"pyflink_on_spark.{path}"


def _is_package(name: str) -> bool:
    steps = name.split(".")[1:]
    return Path(pyflink_on_spark.__file__).parent.joinpath(*steps).is_dir()


def _is_ours(target: Path) -> bool:
    if not target.exists():
        return True
    file = target / "__init__.pyi"
    return file.is_file() and file.read_text(encoding="utf-8").startswith(_MARK)
