"""The values of names after several branches of a script."""

from __future__ import annotations

import ast

from pyflink_on_spark.tools.check import mirror
from pyflink_on_spark.tools.check.values import Value, join

Names = dict[tuple[ast.AST, str], Value]
"""Values by the scope and the name."""

_MISSING = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
_Import = ast.Import | ast.ImportFrom


def merged(one: Names, other: Names) -> Names:
    """Return the values of names after one branch or the other."""
    return {**one, **{key: join(one.get(key), value) for key, value in other.items()}}


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
