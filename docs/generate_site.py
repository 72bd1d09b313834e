"""Collects the pages of the documentation site in build/docs, from which mkdocs builds it.

python docs/generate_site.py

The site has the tree of the repository, so that links work in both. The API reference is a page for
each module that users import from, with everything in its ``__all__``.
"""

from __future__ import annotations

import ast
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "build" / "docs"
PAGES = ("*.md", "docs/**/*.md", "docs/**/*.svg", "examples/README.md")
API = {
    "datastream": (
        "datastream",
        "datastream.functions",
        "datastream.state",
        "datastream.window",
    ),
    "connectors": (
        "datastream.connectors",
        "datastream.connectors.file_system",
        "datastream.connectors.kafka",
        "datastream.connectors.jdbc",
        "datastream.connectors.rabbitmq",
        "datastream.connectors.kinesis",
        "datastream.connectors.number_seq",
        "datastream.connectors.hybrid_source",
    ),
    "formats": (
        "datastream.formats.avro",
        "datastream.formats.csv",
        "datastream.formats.json",
        "datastream.formats.orc",
        "datastream.formats.parquet",
    ),
    "common": ("common", "common.watermark_strategy", "metrics"),
    "table": ("table", "table.expressions"),
    "extensions": ("extensions",),
    "state": ("state",),
    "testing": ("testing",),
    "errors": ("errors",),
}
_LINK = re.compile(r"\]\(([^)#:\s]+)")


def main() -> int:
    """Write all pages."""
    shutil.rmtree(SITE, ignore_errors=True)
    for pattern in PAGES:
        for page in ROOT.glob(pattern):
            _copy(page)
            for linked in _linked_files(page):
                _copy(linked)
    for name, modules in API.items():
        page = SITE / "api" / f"{name}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text("\n".join(_api_page(modules)), encoding="utf-8")
    return 0


def _copy(file: Path) -> None:
    target = SITE / file.relative_to(ROOT)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, target)


def _linked_files(page: Path) -> Iterator[Path]:
    """Yield the files of the repository, other than pages, to which a page links."""
    if page.suffix == ".md":
        for link in _LINK.findall(page.read_text(encoding="utf-8")):
            target = (page.parent / link).resolve()
            if target.is_file() and target.suffix != ".md" and target.is_relative_to(ROOT):
                yield target


def _api_page(modules: tuple[str, ...]) -> Iterator[str]:
    documented: set[str] = set()
    for module in modules:
        yield f"# pyflink.{module}" if _mirrors(module) else f"# pyflink_on_spark.{module}"
        yield ""
        for name in _public_names(module):
            if name not in documented:
                documented.add(name)
                yield f"::: pyflink_on_spark.{module}.{name}"
                yield "    options:"
                yield "      heading_level: 2"
                yield ""


def _mirrors(module: str) -> bool:
    return module.split(".", maxsplit=1)[0] not in {"errors", "extensions", "testing"}


def _public_names(module: str) -> list[str]:
    """Return the names in ``__all__``; in a module without it those that it defines."""
    path = ROOT / "pyflink_on_spark" / Path(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    tree = ast.parse(file.read_text(encoding="utf-8"))
    defined = []
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names: list[str] = ast.literal_eval(node.value)
            return names
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            defined.append(node.name)
    return defined


if __name__ == "__main__":
    sys.exit(main())
