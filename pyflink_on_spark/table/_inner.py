"""The parts of PyFlink's objects that this package works with, and that have no public name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyflink_on_spark._sql.binder.tables import TableDescription
    from pyflink_on_spark._sql.plan.nodes import Node
    from pyflink_on_spark._sql.session.session import Session


def syntax_of(expression: Any) -> Any:
    """The expression as the binder reads it."""
    return expression._unresolved  # noqa: SLF001


def node_of(table: Any) -> Node:
    """The logical plan of a table."""
    return table._node  # noqa: SLF001


def session_of(t_env: Any) -> Session:
    """The session of an environment: its catalog, functions and settings."""
    return t_env._session  # noqa: SLF001


def described_of(described: Any) -> Any:
    """The description that an object of a catalog, or a descriptor, holds."""
    return described._described  # noqa: SLF001


def description_of(schema: Any) -> TableDescription:
    """The columns, watermarks and keys that a schema holds."""
    return schema._description  # noqa: SLF001
