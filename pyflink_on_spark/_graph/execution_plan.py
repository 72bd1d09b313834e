"""The execution plan as Flink's JSON."""

from __future__ import annotations

import json
from typing import Any

from pyflink_on_spark._graph.stream_graph import StreamGraph, display_name
from pyflink_on_spark._graph.transformation import Transformation


def execution_plan_json(graph: StreamGraph) -> str:
    """Return the plan: a node for each operator, Python functions that run as one in one node."""
    groups = _groups(graph)
    of = {member: group for group in groups for member in group}
    nodes = [_node(graph, group, of) for group in groups]
    nodes.sort(key=lambda node: (node["pact"] != "Data Source", node["pact"] == "Data Sink"))
    return json.dumps({"nodes": nodes}, indent=2)


def _groups(graph: StreamGraph) -> list[list[Transformation]]:
    groups: list[list[Transformation]] = []
    grouped: set[Transformation] = set()
    for node in graph.nodes:
        if node not in grouped:
            groups.append(graph.python_group(node))
            grouped.update(groups[-1])
    return groups


def _node(
    graph: StreamGraph,
    group: list[Transformation],
    of: dict[Transformation, list[Transformation]],
) -> dict[str, Any]:
    head = group[0]
    label = ", ".join(display_name(member) for member in group)
    node: dict[str, Any] = {
        "id": group[-1].number,
        "type": label,
        "pact": _pact(head),
        "contents": head.description or label,
        "parallelism": graph.parallelism(head),
    }
    predecessors = [
        {
            "id": of[edge.edge.upstream][-1].number,
            "ship_strategy": edge.partitioner.strategy,
            "side": "second",
        }
        for edge in graph.inputs[head]
    ]
    if predecessors:
        node["predecessors"] = predecessors
    return node


def _pact(node: Transformation) -> str:
    if node.source is not None:
        return "Data Source"
    return "Operator" if node.sink is None else "Data Sink"
