"""The functions and classes of a script that are used when the script is run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Definition = _Function | ast.ClassDef
_LOOKS_NAMES_UP = {"globals", "locals", "eval", "exec", "getattr"}


def uncalled(tree: ast.Module) -> frozenset[ast.AST]:
    """Return the functions and classes that nothing names which runs with the script.

    A module that only defines things is imported by others, who may use all of it.
    """
    if not any(map(_runs, tree.body)):
        return frozenset()
    named: dict[str, list[_Definition]] = {}
    for definition in _definitions(tree):
        named.setdefault(definition.name, []).append(definition)
    reached: set[ast.AST] = set()
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        for name in _names(waiting.pop()):
            if name in _LOOKS_NAMES_UP:
                return frozenset()
            for definition in named.get(name, ()):
                if definition not in reached:
                    reached.add(definition)
                    waiting += _inside(definition)
    return frozenset(d for found in named.values() for d in found if d not in reached)


def never_runs(statement: ast.If) -> bool:
    """Return whether the body of an ``if`` is switched off, or for type checkers only."""
    test = statement.test
    if isinstance(test, ast.Constant):
        return not test.value
    return ast.unparse(test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


def expects_errors(statement: ast.With | ast.AsyncWith) -> bool:
    """True if the body of a ``with`` may fail, or is a test of what fails."""
    opened = [item.context_expr for item in statement.items]
    called = [ast.unparse(each.func) for each in opened if isinstance(each, ast.Call)]
    return any(name.rpartition(".")[2] in _EXPECTS_ERRORS for name in called)


_EXPECTS_ERRORS = {"raises", "assertRaises", "assertRaisesRegex", "suppress"}


def _runs(statement: ast.stmt) -> bool:
    """Return whether a statement of a module does more than to define something."""
    if isinstance(statement, _Definition):
        return False
    return any(isinstance(node, ast.Call) for node in ast.walk(statement))


def _definitions(tree: ast.Module) -> Iterator[_Definition]:
    """Yield all functions and classes but the methods, which are used with their class."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    methods = {part for cls in classes for part in cls.body if isinstance(part, _Function)}
    for node in ast.walk(tree):
        if isinstance(node, _Definition) and node not in methods:
            yield node


def _inside(definition: _Definition) -> Iterator[ast.AST]:
    """Yield the statements that run with a function, or may run once a class is used."""
    for part in definition.body:
        if isinstance(definition, ast.ClassDef) and isinstance(part, _Function):
            yield from part.body
        else:
            yield part


def _names(node: ast.AST) -> Iterator[str]:
    """Yield the names that are read when a node is run; of a definition, when it is made."""
    parts: list[ast.AST] = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, _Function):
        parts = [*node.decorator_list, node.args]
    elif isinstance(node, ast.ClassDef):
        parts = [*node.decorator_list, *node.bases, *node.keywords, *node.body]
    if isinstance(node, _Definition) and node.decorator_list:
        yield node.name
    for part in parts:
        yield from _names(part)
