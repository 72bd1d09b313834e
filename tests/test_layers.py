"""The layer table of ARCHITECTURE.md, and what an import of the mirror loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "pyflink_on_spark"

VOCABULARY = {"common", "metrics", "util", "table", "serializers", "version"}
RUNTIME = VOCABULARY | {"_compat", "_filesystem", "_runtime"}
ENGINE = RUNTIME | {"_graph", "_connectors", "_job"}
MIRROR = VOCABULARY | {"datastream"}

# What each package may import, itself aside.
MAY_IMPORT = {
    "_compat": set(),
    **dict.fromkeys(VOCABULARY, VOCABULARY | {"_compat"}),
    "_filesystem": VOCABULARY | {"_compat"},
    "_runtime": RUNTIME,
    "_graph": RUNTIME,
    "_connectors": RUNTIME,
    "_job": ENGINE,
    "datastream": ENGINE,
    "extensions": ENGINE | MIRROR,
    "testing": ENGINE | MIRROR | {"extensions"},
    "_spark": ENGINE | MIRROR | {"extensions"},
    "tools": ENGINE | MIRROR | {"extensions", "testing", "_spark"},
}
# Arrows that still point up, each to be turned round.
UPWARD = {
    ("_job/checkpoint_settings.py", "datastream"),
    ("_job/state_settings.py", "datastream"),
}
MAY_IMPORT_PYSPARK = {"_spark"}


def modules():
    """Every module but the two that only start the package."""
    starters = {PACKAGE / "__init__.py", PACKAGE / "__main__.py"}
    return sorted(path for path in PACKAGE.rglob("*.py") if path not in starters)


def layer_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_names(path):
    """Every dotted name that the module imports, inside functions too, but not for typing only."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_every_package_is_on_a_layer():
    assert {layer_of(path) for path in modules()} <= MAY_IMPORT.keys()


@pytest.mark.parametrize("layer", sorted(MAY_IMPORT))
def test_imports_go_down_only(layer):
    allowed = MAY_IMPORT[layer] | {layer}
    offences = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules()
        if layer_of(path) == layer
        for name in imported_names(path)
        if name.startswith("pyflink_on_spark.")
        and name.split(".")[1] not in allowed
        and (str(path.relative_to(PACKAGE)), name.split(".")[1]) not in UPWARD
    ]
    assert not offences


def test_arrows_that_were_turned_round_are_not_listed_any_more():
    arrows = {
        (str(path.relative_to(PACKAGE)), name.split(".")[1])
        for path in modules()
        for name in imported_names(path)
        if name.startswith("pyflink_on_spark.")
    }
    assert arrows >= UPWARD


def test_only_the_spark_layer_imports_pyspark():
    offences = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules()
        if layer_of(path) not in MAY_IMPORT_PYSPARK
        for name in imported_names(path)
        if name.split(".")[0] in {"pyspark", "py4j"}
    ]
    assert not offences


def test_every_folder_of_modules_is_a_package():
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    assert not [str(folder) for folder in folders if not (folder / "__init__.py").exists()]


@pytest.mark.parametrize(
    "module",
    [
        "pyflink_on_spark",
        "pyflink_on_spark.datastream",
        "pyflink_on_spark.extensions",
        "pyflink_on_spark.testing",
    ],
)
def test_an_import_loads_no_spark(module):
    program = (
        f"import sys, {module}; print(*sorted(m for m in ('pyspark', 'py4j') if m in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
