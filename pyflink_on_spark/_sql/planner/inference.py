"""Infers which changes each node makes, and where rows before updates are needed.

First from the sources on: each node says what it makes of the changes of its inputs, and refuses
those that it cannot deal with. Then from the sinks back: each node says of which inputs it needs
rows before updates. Where a source cannot give them, a node that remembers rows is put after it.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyflink_on_spark._sql.errors import TableError, not_yet
from pyflink_on_spark._sql.plan.changes import ModifyKinds
from pyflink_on_spark._sql.planner.physical import PhysicalNode


def infer_changes(roots: Iterable[PhysicalNode]) -> None:
    """Set ``changes`` and ``before`` of all nodes.

    Args:
        roots: the sinks.

    Raises:
        TableError: a node cannot deal with the changes of its input.
    """
    roots = list(roots)
    done: set[PhysicalNode] = set()
    for root in roots:
        _find_changes(root, done)
    for root in roots:
        _require_before(root, wanted=False)


def _find_changes(node: PhysicalNode, done: set[PhysicalNode]) -> None:
    if node in done:
        return
    done.add(node)
    for port, source in enumerate(node.inputs):
        _find_changes(source, done)
        refused = source.changes & ~node.accepts(port)
        if refused:
            place = "" if node.span is None else f"{node.span.range()}: "
            raise TableError(
                f"{place}{node.describe_short()} doesn't support consuming {refused.describe()} "
                f"which is produced by node {_origin(source, refused).describe()}"
            )
    node.changes = node.produces(tuple(source.changes for source in node.inputs))


def _origin(node: PhysicalNode, refused: ModifyKinds) -> PhysicalNode:
    """Return the node that makes the changes, which those after it only pass on."""
    while len(node.inputs) == 1 and node.inputs[0].changes & refused == refused:
        node = node.inputs[0]
    return node


def _require_before(node: PhysicalNode, wanted: bool) -> None:
    if wanted and ModifyKinds.UPDATE in node.changes and not node.before:
        if not node.can_give_before():
            not_yet(
                f"{node.describe()}, whose updates do not say what a row was before,",
                None,
                "Write its rows to a sink with a primary key.",
            )
        node.before = True
    for port, source in enumerate(node.inputs):
        _require_before(source, node.needs_before(port, node.before))
