"""The layer table of ARCHITECTURE.md, and what an import of the mirror loads."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "pyflink_on_spark"

VOCABULARY = {"_options", "common", "metrics", "util", "serializers", "java_gateway", "version"}
RUNTIME = VOCABULARY | {"_compat", "_filesystem", "_runtime"}
ENGINE = RUNTIME | {"_graph", "_connectors", "_job"}
MIRROR = VOCABULARY | {"dataset", "datastream", "table"}

# What each package may import, itself aside.
MAY_IMPORT = {
    "_compat": set(),
    **dict.fromkeys(VOCABULARY, VOCABULARY | {"_compat"}),
    "_options": {"_compat"},
    "_filesystem": {"_compat", "_options"},
    "_runtime": RUNTIME,
    "_graph": RUNTIME,
    "_connectors": RUNTIME,
    "_job": ENGINE | {"flink_state"},
    "_operate": ENGINE,
    "_sql": ENGINE,
    "flink_state": RUNTIME,
    "state": RUNTIME | {"flink_state"},
    "errors": {"_connectors", "_runtime", "_compat"},
    "datastream": ENGINE,
    "dataset": ENGINE | {"datastream"},
    "table": ENGINE | {"_sql", "dataset", "datastream"},
    "extensions": ENGINE | MIRROR | {"_sql"},
    "testing": ENGINE | {"datastream"},
    "_cluster": {"_compat", "_options", "_runtime", "_job"},
    "_spark": ENGINE | {"_cluster", "_operate"},
    "tools": ENGINE
    | MIRROR
    | {"_sql", "extensions", "testing", "_operate", "_spark", "flink_state", "state"},
}
MAY_IMPORT_PYSPARK = {"_spark"}
# Modules that import what a string names, which this test cannot follow, and what that is.
IMPORT_BY_NAME = {
    "_compat/missing_names.py": "names that PyFlink's modules have by accident, from anywhere",
    "_compat/import_hook.py": "the module of the mirror that a script imports as pyflink",
    "_compat/optional_package.py": "an optional library",
    "_connectors/formats/compression.py": "an optional library",
    "_sql/tables/connectors/registry.py": "the factory of a connector, in _sql/tables/connectors",
    "_sql/functions/catalog.py": "a chapter of functions, and the user's module of a function",
    "_sql/tables/formats/protobuf.py": "the class of messages that an option names",
    "_sql/tables/formats/format.py": "a format, in _sql/tables/formats",
    "common/serialization.py": "formats that PyFlink moved away from this module",
    "tools/check/mirror.py": "any module of the mirror",
    "tools/commands.py": "a command, in tools",
}

# Modules of the mirror that need each other because the modules of PyFlink do.
CIRCLES_OF_PYFLINK = [
    {
        f"pyflink_on_spark.datastream.data_stream.{name}"
        for name in (
            "connected_streams",
            "data_stream",
            "keyed_stream",
            "windowed_stream",
        )
    },
    {
        f"pyflink_on_spark.datastream.{name}"
        for name in (
            "async_retry_strategies",
            "functions",
            "functions._virtual_subclasses",
            "functions.async_functions",
            "state",
        )
    },
]


def modules():
    """Every module but the two that only start the package."""
    starters = {PACKAGE / "__init__.py", PACKAGE / "__main__.py"}
    return sorted(path for path in PACKAGE.rglob("*.py") if path not in starters)


def layer_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def text_of(path):
    return path.read_text(encoding="utf-8")


@functools.cache
def imported_names(path):
    """Every dotted name that the module imports, inside functions too, but not for typing only."""
    return list(names_imported_in(path))


def names_imported_in(path):
    tree = ast.parse(text_of(path), str(path))
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
        elif is_import_by_name(node) and isinstance(node.args[0], ast.Constant):
            yield node.args[0].value


def is_import_by_name(node):
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
        ("import_module", "__import__")
    )


def import_graph():
    """The modules that each module imports, by name, inside functions too."""
    names = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in modules()
    }
    return {
        name: {
            found
            for imported in imported_names(path)
            for found in (imported if imported in names else imported.rpartition(".")[0],)
            if found in names and found != name
        }
        for name, path in names.items()
    }


def circles_of(graph):
    """The largest groups of modules in which each one leads to each other one."""
    reached = {name: reachable(graph, name) for name in graph}
    circles = []
    for name, others in reached.items():
        circle = {other for other in others if name in reached[other]}
        if circle and circle not in circles:
            circles.append(circle)
    return circles


def reachable(graph, start):
    found, waiting = set(), [start]
    while waiting:
        new = graph[waiting.pop()] - found
        found |= new
        waiting += new
    return found


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
        if name.startswith("pyflink_on_spark.") and name.split(".")[1] not in allowed
    ]
    assert not offences


def test_no_module_hides_an_import_in_a_string():
    found = {
        str(path.relative_to(PACKAGE))
        for path in modules()
        if re.search("import_module|__import__", text_of(path))
        for node in ast.walk(ast.parse(text_of(path)))
        if is_import_by_name(node) and not isinstance(node.args[0], ast.Constant)
    }
    assert found == set(IMPORT_BY_NAME)


def test_no_modules_import_each_other_but_those_of_pyflink():
    circles = [circle for circle in circles_of(import_graph()) if circle not in CIRCLES_OF_PYFLINK]
    assert not circles


def test_only_the_spark_layer_imports_pyspark():
    offences = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules()
        if layer_of(path) not in MAY_IMPORT_PYSPARK and re.search("pyspark|py4j", text_of(path))
        for name in imported_names(path)
        if name.split(".")[0] in {"pyspark", "py4j"}
    ]
    assert not offences


def test_the_engine_structured_needs_no_processes_of_our_own():
    folder = PACKAGE / "_spark" / "structured"
    names = [f"pyflink_on_spark._spark.structured.{path.stem}" for path in folder.glob("[a-z]*.py")]
    code = (
        f"import sys, {', '.join(names)}\n"
        "print([name for name in sys.modules if name.startswith('pyflink_on_spark._cluster')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_folder_of_modules_is_a_package():
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    assert not [str(folder) for folder in folders if not (folder / "__init__.py").exists()]


@pytest.mark.parametrize(
    "module",
    [
        "pyflink_on_spark",
        "pyflink_on_spark.datastream",
        "pyflink_on_spark.extensions",
        "pyflink_on_spark.table",
        "pyflink_on_spark.testing",
    ],
)
def test_an_import_loads_no_spark(module):
    """Nor Arrow, without tables: with NumPy it takes as long as all the rest."""
    heavy = {"pyspark", "py4j"} | ({"pyarrow", "numpy"} if "table" not in module else set())
    program = f"import sys, {module}; print(*sorted({heavy} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
