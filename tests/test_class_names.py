"""No two public classes of one name in different packages, but for PyFlink's own names."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PACKAGE = Path(__file__).resolve().parent.parent / "pyflink_on_spark"
# The names of the mirror are PyFlink's.
MIRROR = {"common", "datastream", "metrics", "table", "util"}
SQL = {"_sql"}  # has the terms of its standard: call, cursor, join
# Names of PyFlink that the engine has for the same thing: what the mirror declares, or what its
# users subclass. Each is below the package that implements it.
OF_PYFLINK = {
    "AggregatingState": "_runtime",
    "BroadcastState": "_runtime",
    "FileSystem": "_filesystem",
    "FoldingState": "_runtime, extensions",
    "ListState": "_runtime",
    "MapState": "_runtime",
    "MergingState": "_runtime",
    "OperatorStateStore": "_runtime, extensions",
    "Partitioner": "_runtime",
    "ReadOnlyBroadcastState": "_runtime",
    "ReducingState": "_runtime",
    "RuntimeContext": "_runtime",
    "Sink": "_runtime",
    "SinkFunction": "extensions",
    "SortedMapState": "_runtime, extensions",
    "Source": "_runtime",
    "SourceFunction": "extensions",
    "ValueState": "_runtime",
}


def public_classes():
    """Yield the name of each public class, and the package that it is in."""
    for path in PACKAGE.rglob("*.py"):
        package = path.relative_to(PACKAGE).parts[0]
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name, package


def test_a_name_is_that_of_one_class():
    packages = {}
    for name, package in public_classes():
        if package not in SQL:
            packages.setdefault(name, []).append(package)
    twice = {
        name: ", ".join(sorted(found_in))
        for name, in_all in packages.items()
        if len(in_all) > 1 and (found_in := [each for each in in_all if each not in MIRROR])
    }
    assert twice == OF_PYFLINK
