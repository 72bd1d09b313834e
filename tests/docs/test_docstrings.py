"""Docstrings name parameters that exist, and documents name files that do."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "pyflink_on_spark"
ARGUMENTS = re.compile(r"^( *)Args:\n((?:\1 +.*\n|\n)*)", re.MULTILINE)
PATH = re.compile(r"`([a-z_]+/[\w/.-]*?(?:\.py|/))`")


def documented_arguments(docstring):
    found = ARGUMENTS.search(f"{docstring}\n")
    if found:
        indent = " " * (len(found[1]) + 4)
        for line in found[2].splitlines():
            name = re.match(rf"{indent}\*{{0,2}}(\w+):", line)
            if name:
                yield name[1]


def parameters(function):
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return {each.arg for each in (*named, arguments.vararg, arguments.kwarg) if each is not None}


def accepted_names(node):
    """Return the parameters of a function or class; None for a class that only inherits them."""
    if not isinstance(node, ast.ClassDef):
        return parameters(node)
    names = set()
    for member in node.body:
        if isinstance(member, ast.AnnAssign):
            names.add(ast.unparse(member.target))
        elif isinstance(member, ast.FunctionDef) and member.name in {"__init__", "__new__"}:
            return parameters(member)
    return names if any("dataclass" in ast.unparse(d) for d in node.decorator_list) else None


@pytest.mark.slow
def test_every_documented_argument_exists():
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                accepted = accepted_names(node)
                if accepted is not None:
                    wrong += [
                        f"{path.relative_to(ROOT)}:{node.lineno}: {node.name} has no {name}"
                        for name in documented_arguments(ast.get_docstring(node) or "")
                        if name not in accepted
                    ]
    assert wrong == []


def test_the_documents_of_developers_name_files_that_exist():
    missing = [
        f"{document}: {name}"
        for document in ("ARCHITECTURE.md", "CONTRIBUTING.md")
        for name in PATH.findall((ROOT / document).read_text(encoding="utf-8"))
        if not (ROOT / name).exists() and not (PACKAGE / name).exists()
    ]
    assert missing == []
