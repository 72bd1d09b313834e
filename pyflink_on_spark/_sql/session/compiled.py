"""Compiled plans: INSERTs as JSON, with what they depend on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pyflink_on_spark._filesystem.local_path import local_path
from pyflink_on_spark._sql.errors import TableError
from pyflink_on_spark._sql.parser import parse_statement
from pyflink_on_spark._sql.plan.nodes import Node, Sink, TableScan
from pyflink_on_spark._sql.session.session import Session
from pyflink_on_spark._sql.syntax.statements import Insert

_FORMAT = 1
_FLINK_VERSION = "2.3"


def compiled(session: Session, texts: Sequence[str]) -> str:
    """Return the plan of some INSERTs, as JSON.

    A plan has the statements, the database in which they are read, and the columns of their tables.

    Args:
        session: what plans them.
        texts: of the INSERTs.

    Raises:
        ValidationError: something in them is wrong.
    """
    catalog = session.catalog
    content = {
        "flinkVersion": _FLINK_VERSION,
        "pyflinkOnSpark": _FORMAT,
        "database": [catalog.current_catalog, catalog.current_database],
        "statements": list(texts),
        "tables": _tables(_bound(session, texts)),
    }
    return json.dumps(content, indent=2)


def sinks_of(session: Session, text: str) -> list[Sink]:
    """Return the plans of the INSERTs of a compiled plan.

    Args:
        session: what plans them.
        text: what ``compiled`` has returned.

    Raises:
        TableError: it is no such text, or one of Flink's, or a table has changed since.
        ValidationError: something in the statements is wrong.
    """
    content = _content(text)
    catalog = session.catalog
    before = catalog.current_catalog, catalog.current_database
    try:
        catalog.use_database(content["database"])
        sinks = _bound(session, content["statements"])
    finally:
        catalog.current_catalog, catalog.current_database = before
    now = _tables(sinks)
    for name, columns in content["tables"].items():
        if now.get(name, columns) != columns:
            raise TableError(
                f"The schema of table {name} in the persisted plan does not match the schema "
                f"loaded from the catalog: '{columns}' != '{now[name]}'. Have you modified the "
                "table schema in the catalog before restoring the plan?"
            )
    return sinks


def _content(text: str) -> Any:
    try:
        content = json.loads(text)
    except ValueError as error:
        raise TableError(f"Cannot load Plan:\n{text}\n{error}") from None
    if isinstance(content, dict) and "nodes" in content:
        raise TableError(
            "Cannot load Plan: it is one of Flink's own planner. Compile the INSERT with "
            "compile_plan_sql or COMPILE PLAN of this package."
        )
    if not isinstance(content, dict) or content.get("pyflinkOnSpark") != _FORMAT:
        raise TableError("Cannot load Plan: it is no compiled plan of this version.")
    return content


def _bound(session: Session, texts: Sequence[str]) -> list[Sink]:
    statements = [parse_statement(text) for text in texts]
    return [session.bind_insert(each) for each in statements if isinstance(each, Insert)]


def _tables(sinks: Sequence[Sink]) -> dict[str, str]:
    """Return the columns of the tables that plans read and write, by the tables' names."""
    found = {}
    for node in _nodes(sinks):
        if isinstance(node, TableScan | Sink):
            found[str(node.path)] = str(node.table.schema.row)
    return found


def _nodes(nodes: Sequence[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        yield from _nodes(node.inputs)


def flink_version(text: str) -> str:
    """Return the version of Flink whose behaviour a plan is of."""
    return str(_content(text)["flinkVersion"])


def write_plan(text: str, path: str, *, if_not_exists: bool, replaces: bool) -> None:
    """Write a plan to a file of this machine.

    Args:
        text: the plan.
        path: the file.
        if_not_exists: whether a file that is there stays as it is.
        replaces: whether a file that is there goes.

    Raises:
        TableError: the file is there.
    """
    file = Path(local_path(path))
    if file.exists():
        if if_not_exists:
            return
        if not replaces:
            raise TableError(
                f"Cannot overwrite the plan file '{file}'. Either manually remove the file or, if "
                "you're debugging your job, set the option 'table.plan.force-recompile' to true."
            )
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def read_plan(path: str) -> str:
    """Return the plan in a file of this machine.

    Raises:
        TableError: it cannot be read.
    """
    try:
        return Path(local_path(path)).read_text(encoding="utf-8")
    except OSError as error:
        raise TableError(f"Cannot load Plan from file '{path}': {error}") from None
