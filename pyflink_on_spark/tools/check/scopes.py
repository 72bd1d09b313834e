"""What the names of a script stand for."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator

from pyflink_on_spark.tools.check.branches import Names
from pyflink_on_spark.tools.check.values import UNKNOWN, Value


class Known:
    """What was found out in earlier passes."""

    def __init__(self) -> None:
        self.names: Names = {}
        self.attributes: dict[tuple[ast.AST, str], Value] = {}
        self.parameters: dict[tuple[ast.AST, str], Value] = {}
        self.returned: dict[ast.AST, Value] = {}


class Scopes:
    """The module, classes and functions around a statement.

    Args:
        known: has the names of each scope.
    """

    def __init__(self, known: Known) -> None:
        self._known = known
        self._scopes: list[ast.AST] = []

    @property
    def innermost(self) -> ast.AST:
        """The scope that binds names."""
        return self._scopes[-1]

    @contextlib.contextmanager
    def inside(self, scope: ast.AST) -> Iterator[None]:
        """Enter a scope."""
        self._scopes.append(scope)
        yield
        self._scopes.pop()

    def bind(self, name: str, value: Value) -> None:
        """Let a name stand for a value in the innermost scope."""
        self._known.names[self.innermost, name] = value

    def value(self, name: str) -> Value:
        """Return what a name stands for: no function sees the names of a class around it."""
        for scope in reversed(self._scopes):
            if isinstance(scope, ast.ClassDef) and scope is not self.innermost:
                continue
            if (scope, name) in self._known.names:
                return self._known.names[scope, name]
        return UNKNOWN
