"""The stable names under which checkpoints have the state of a program's operators."""

from __future__ import annotations

from collections.abc import Mapping

from pyflink_on_spark._compat.errors import JobTranslationError
from pyflink_on_spark._graph.stream_graph import StreamGraph
from pyflink_on_spark._graph.transformation import Transformation


def state_names(graph: StreamGraph) -> Mapping[Transformation, str]:
    """Return the name of each operator's state: the user's, or one by its place in the program.

    Of Python operators that PyFlink fuses, it looks at the first one's uid only. So that of another
    one counts here, unless it is taken.

    Raises:
        JobTranslationError: if two operators were given one uid.
    """
    names: dict[Transformation, str] = {}
    fused = _fused(graph)
    uids: dict[str, Transformation] = {}
    taken: dict[str, Transformation] = {}
    for node in graph.nodes:
        if node not in fused:
            _take(uids, node.uid, node)
            _take(taken, node.uid_hash or node.uid, node)
    for place, node in enumerate(graph.nodes):
        given = node.uid_hash or node.uid
        if given and taken.setdefault(given, node) is node:
            names[node] = given
        else:
            names[node] = f"{place}:{node.name}"
    return names


def demand_uids(graph: StreamGraph) -> None:
    """See that the user has named all operators that can be named; of fused ones, the first.

    Raises:
        JobTranslationError: if one has neither a uid nor a uid hash.
    """
    fused = _fused(graph)
    for node in graph.nodes:
        nameless = node.aligned is not None  # added by the API, for keys: nobody can name it
        if node not in fused and not nameless and not (node.uid_hash or node.uid):
            raise JobTranslationError(
                "Auto generated UIDs have been disabled but no UID or hash has been assigned to "
                f"operator {node.name}: give it one, with uid()"
            )


def _fused(graph: StreamGraph) -> set[Transformation]:
    return {node for node in graph.nodes if any(map(graph.python_chained, graph.inputs[node]))}


def _take(taken: dict[str, Transformation], name: str | None, node: Transformation) -> None:
    other = taken.setdefault(name, node) if name else node
    if other is not node:
        raise JobTranslationError(
            f'Hash collision on user-specified ID "{name}". Most likely cause is a non-unique ID: '
            f"the operators {other.name!r} and {node.name!r} both have it. Please check that all "
            "IDs specified via uid() and set_uid_hash() are unique."
        )
