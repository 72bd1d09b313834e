"""How a query is carried out, as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyflink_on_spark._sql.plan.changes import ModifyKinds
from pyflink_on_spark._sql.plan.nodes import Node
from pyflink_on_spark._sql.planner.physical import PhysicalNode
from pyflink_on_spark._sql.planner.program import physical_plan
from pyflink_on_spark._sql.settings import QuerySettings


def explain(sinks: Sequence[Node], settings: QuerySettings, *, changelog_mode: bool = False) -> str:
    """Return the logical and the physical plan of some sinks.

    Args:
        sinks: the logical plans.
        settings: the session's.
        changelog_mode: whether each physical node says which changes it makes.

    Raises:
        TableError: a node cannot deal with the changes of its input.
    """
    nodes = physical_plan(sinks, settings)
    parts = [
        ("Abstract Syntax Tree", [_tree(sink, _described) for sink in sinks]),
        (
            "Optimized Physical Plan",
            [_tree(node, _with_changes if changelog_mode else _described) for node in nodes],
        ),
        ("Optimized Execution Plan", [_tree(node, _described) for node in nodes]),
    ]
    return "\n".join(f"== {title} ==\n" + "\n".join(trees) + "\n" for title, trees in parts)


def _tree(node: Any, describe: Any, depth: int = 0) -> str:
    head = "" if not depth else "   " * (depth - 1) + "+- "
    lines = [head + describe(node)]
    lines += [_tree(source, describe, depth + 1) for source in node.inputs]
    return "\n".join(lines)


def _described(node: Any) -> str:
    return str(node.describe())


def _with_changes(node: PhysicalNode) -> str:
    letters = ["I"]
    if ModifyKinds.UPDATE in node.changes:
        letters += ["UB", "UA"] if node.before else ["UA"]
    if ModifyKinds.DELETE in node.changes:
        letters.append("D")
    return f"{node.describe()[:-1]}, changelogMode=[{','.join(letters)}])"
