"""Computes the keys and arguments of groups once for each row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from pyflink_on_spark._sql.plan import nodes as logical
from pyflink_on_spark._sql.plan.expressions import (
    AggregateInvocation,
    Constant,
    InputRef,
    Typed,
    input_refs,
    rewrite,
    walk,
)
from pyflink_on_spark._sql.plan.match import Match, MatchedAggregate, MatchedField
from pyflink_on_spark._sql.plan.nodes import (
    Aggregate,
    Expand,
    Node,
    Over,
    Project,
    Schema,
    SemiJoin,
    SortKey,
    TemporalJoin,
)
from pyflink_on_spark._sql.planner.physical import Digests


def with_columns(node: Aggregate) -> Aggregate:
    """Return an aggregate whose keys and arguments are columns of its input.

    Without that a key would be computed for the exchange and again for the result, and an argument
    of several functions for each of them.
    """
    used = [*node.keys, *(arg for call in node.calls for arg in call.args)]
    if all(isinstance(each, InputRef | Constant) for each in used):
        return node
    kept: list[Typed] = [each for each in used if not isinstance(each, Constant)]
    for call in node.calls:
        if call.filter is not None:
            types = node.input.schema.types
            kept += [InputRef(types[index], index) for index in sorted(input_refs(call.filter))]
    columns = list(dict.fromkeys(kept))
    places = {column: index for index, column in enumerate(columns)}

    def column_of(expression: Typed) -> Typed:
        if isinstance(expression, Constant):
            return expression
        return InputRef(expression.type, places[expression])

    calls = tuple(
        replace(
            call,
            args=tuple(map(column_of, call.args)),
            filter=None if call.filter is None else _over(call.filter, places),
        )
        for call in node.calls
    )
    names = node.input.schema.names
    schema = Schema(
        tuple(
            names[column.index] if isinstance(column, InputRef) else f"$f{index}"
            for index, column in enumerate(columns)
        ),
        tuple(column.type for column in columns),
    )
    source = Project(schema, node.input, tuple(columns))
    return replace(node, input=source, keys=tuple(map(column_of, node.keys)), calls=calls)


def _over(condition: Typed, places: dict[Typed, int]) -> Typed:
    if isinstance(condition, InputRef):
        return InputRef(condition.type, places[condition])
    operands = tuple(_over(operand, places) for operand in condition.operands)
    return condition.with_operands(operands) if operands else condition


Needed = frozenset[int]
Places = dict[int, int]
"""Where the columns that are left are now."""


def pruned(roots: Sequence[Node]) -> tuple[Node, ...]:
    """Return plans without unused columns; shared nodes stay shared.

    Args:
        roots: the sinks.
    """
    digests = Digests()
    needed: dict[int, set[int]] = {
        digests.number(root): set(range(len(root.schema))) for root in roots
    }
    for node in _from_the_sinks(roots, digests):
        if isinstance(node, Over):
            _keep_calls(node.input, needed, digests)
        wanted = _wanted_of_inputs(node, frozenset(needed[digests.number(node)]))
        for source, columns in zip(node.inputs, wanted):
            needed.setdefault(digests.number(source), set()).update(columns)
    pruning = _Pruning(digests, needed)
    return tuple(pruning.prune(root)[0] for root in roots)


def _keep_calls(node: Node, needed: dict[int, set[int]], digests: Digests) -> None:
    """Need all columns of an aggregate below OVER, as Flink does; its updates show it."""
    while isinstance(node, Project | logical.Filter):
        node = node.input
    if isinstance(node, Aggregate):
        needed.setdefault(digests.number(node), set()).update(range(len(node.schema)))


def _from_the_sinks(roots: Sequence[Node], digests: Digests) -> list[Node]:
    """Return all nodes, each after those that read it, and one of those that do the same."""
    order: list[Node] = []
    seen: set[int] = set()

    def visit(node: Node) -> None:
        number = digests.number(node)
        if number in seen:
            return
        seen.add(number)
        for source in node.inputs:
            visit(source)
        order.append(node)

    for root in roots:
        visit(root)
    return order[::-1]


# -- what a node uses ----------------------------------------------------------------------------


def _wanted_of_inputs(node: Node, needed: Needed) -> tuple[Needed, ...]:
    """Return which columns of each input a node uses if some of its own are needed."""
    find = _WANTED.get(type(node))
    if find is None:
        return tuple(frozenset(range(len(source.schema))) for source in node.inputs)
    return find(node, needed)


def _refs(*expressions: Typed | None) -> Needed:
    return frozenset().union(*(input_refs(each) for each in expressions if each is not None))


def _of_keys(keys: Iterable[SortKey]) -> Needed:
    return _refs(*(key.value for key in keys))


def _of_calls(calls: Iterable[AggregateInvocation]) -> Needed:
    return _refs(*(part for call in calls for part in (*call.args, call.filter)))


def _own(node: Any, needed: Needed) -> Needed:
    """Return the columns of the input among those of a node that adds columns."""
    width = len(node.input.schema)
    return frozenset(index for index in needed if index < width)


def _sides(node: Any, used: Iterable[int]) -> tuple[Needed, Needed]:
    width = len(node.left.schema)
    used = frozenset(used)
    return (
        frozenset(index for index in used if index < width),
        frozenset(index - width for index in used if index >= width),
    )


def _used_calls(node: Aggregate, needed: Needed) -> list[int]:
    """Return the positions of the calls that something uses; one where there would be nothing."""
    width = len(node.keys)
    used = [place for place in range(len(node.calls)) if width + place in needed]
    return used or ([0] if node.calls and not node.keys else [])


def _of_temporal(node: TemporalJoin, needed: Needed) -> tuple[Needed, ...]:
    left, right = _sides(node, needed | _refs(node.condition))
    return left | {node.time}, right if node.version is None else right | {node.version}


def _of_match(node: Match, _needed: Needed) -> tuple[Needed, ...]:
    used = frozenset(node.partition) | _of_keys(node.keys)
    for expression in (*node.definitions, *node.measures):
        for part in walk(expression):
            if isinstance(part, MatchedField):
                used |= {part.column}
            elif isinstance(part, MatchedAggregate):
                used |= _of_calls([part.call])
    return (used,)


_WANTED: dict[type[Node], Callable[[Any, Needed], tuple[Needed, ...]]] = {
    logical.Project: lambda node, needed: (_refs(*(node.expressions[i] for i in needed)),),
    logical.Filter: lambda node, needed: (needed | _refs(node.condition),),
    logical.AssignWatermarks: lambda node, needed: (
        needed | _refs(node.watermark) | {node.column},
    ),
    logical.Aggregate: lambda node, needed: (
        _refs(*node.keys) | _of_calls(node.calls[place] for place in _used_calls(node, needed)),
    ),
    logical.Sort: lambda node, needed: (needed | _of_keys(node.keys),),
    logical.WindowTable: lambda node, needed: (
        _own(node, needed) | {node.time} | frozenset(node.partition or ()),
    ),
    Expand: lambda node, needed: (_own(node, needed) | _refs(*node.keys),),
    logical.Correlate: lambda node, needed: (
        _own(node, needed | _refs(node.condition)) | _refs(*node.args),
    ),
    Over: lambda node, needed: (
        _own(node, needed) | _refs(*node.partition) | _of_keys(node.keys) | _of_calls(node.calls),
    ),
    Match: _of_match,
    logical.Join: lambda node, needed: _sides(node, needed | _refs(node.condition)),
    SemiJoin: lambda node, needed: _sides(node, needed | _refs(node.condition)),
    TemporalJoin: _of_temporal,
}


# -- the same without the rest -------------------------------------------------------------------


class _Pruning:
    """Makes nodes again with fewer columns.

    Args:
        digests: the numbers of nodes.
        needed: which columns something uses of the nodes with a number.
    """

    def __init__(self, digests: Digests, needed: dict[int, set[int]]) -> None:
        self._digests, self._needed = digests, needed
        self._made: dict[int, tuple[Node, Places]] = {}

    def prune(self, node: Node) -> tuple[Node, Places]:
        """Return a node without columns that nothing uses, and where the others are."""
        number = self._digests.number(node)
        found = self._made.get(number)
        if found is None:
            make = _MAKE.get(type(node), _as_it_was)
            found = self._made[number] = make(node, self)
        return found

    def needed(self, node: Node) -> Needed:
        """Return which columns something uses of a node, and of those that do the same."""
        return frozenset(self._needed[self._digests.number(node)])

    def narrow(self, node: Node) -> tuple[Node, Places]:
        """Return the same, with a projection if there are still columns that nothing uses."""
        made, places = self.prune(node)
        kept = sorted(self.needed(node))
        if len(kept) == len(made.schema) or not kept:
            return made, places
        columns = tuple(InputRef(made.schema.types[places[i]], places[i]) for i in kept)
        schema = Schema(
            tuple(made.schema.names[places[i]] for i in kept), tuple(each.type for each in columns)
        )
        return (
            logical.Project(schema, made, columns),
            {index: place for place, index in enumerate(kept)},
        )


def _moved(expression: Typed, places: Places) -> Typed:
    return rewrite(
        expression,
        lambda part: (
            replace(part, index=places[part.index]) if isinstance(part, InputRef) else None
        ),
    )


def _moved_keys(keys: Iterable[SortKey], places: Places) -> tuple[SortKey, ...]:
    return tuple(replace(key, value=_moved(key.value, places)) for key in keys)


def _moved_calls(
    calls: Iterable[AggregateInvocation], places: Places
) -> tuple[AggregateInvocation, ...]:
    return tuple(
        replace(
            call,
            args=tuple(_moved(arg, places) for arg in call.args),
            filter=None if call.filter is None else _moved(call.filter, places),
        )
        for call in calls
    )


def _identity(node: Node) -> Places:
    return {index: index for index in range(len(node.schema))}


def _as_it_was(node: Node, pruning: _Pruning) -> tuple[Node, Places]:
    """Rule a node again over inputs that have kept all columns."""
    inputs = [pruning.narrow(source) for source in node.inputs]
    if any(made is not source for (made, _), source in zip(inputs, node.inputs)):
        if isinstance(node, logical.Union):
            node = replace(node, nodes=tuple(made for made, _ in inputs))
        else:
            node = replace(node, input=inputs[0][0])  # type: ignore[call-arg]
    return node, _identity(node)


def _project(node: logical.Project, pruning: _Pruning) -> tuple[Node, Places]:
    source, places = pruning.prune(node.input)
    kept = sorted(pruning.needed(node))
    columns = tuple(_moved(node.expressions[index], places) for index in kept)
    made = logical.Project(node.schema.projected(kept), source, columns)
    return made, {index: place for place, index in enumerate(kept)}


def _same_columns(node: Any, pruning: _Pruning) -> tuple[Node, Places]:
    source, places = pruning.prune(node.input)
    changes: dict[str, Any] = {}
    if isinstance(node, logical.Filter):
        changes["condition"] = _moved(node.condition, places)
    elif isinstance(node, logical.Sort):
        changes["keys"] = _moved_keys(node.keys, places)
    else:
        changes["column"] = places[node.column]
        if node.watermark is not None:
            changes["watermark"] = _moved(node.watermark, places)
    schema = node.schema.projected(places)
    return replace(node, schema=schema, input=source, **changes), places


def _aggregate(node: logical.Aggregate, pruning: _Pruning) -> tuple[Node, Places]:
    source, places = pruning.narrow(node.input)
    keys = tuple(_moved(key, places) for key in node.keys)
    used = _used_calls(node, pruning.needed(node))
    calls = _moved_calls((node.calls[place] for place in used), places)
    kept = [*range(len(keys)), *(len(keys) + place for place in used)]
    schema = node.schema.projected(kept)
    made = with_columns(replace(node, schema=schema, input=source, keys=keys, calls=calls))
    return made, {index: place for place, index in enumerate(kept)}


def _adding(node: Any, pruning: _Pruning) -> tuple[Node, Places]:
    """Rule a node again that adds columns to those of its input."""
    source, places = pruning.narrow(node.input)
    width, now = len(node.input.schema), len(source.schema)
    added = range(width, len(node.schema))
    moved = {**places, **{index: now + index - width for index in added}}
    schema = Schema(
        (*source.schema.names, *(node.schema.names[index] for index in added)),
        (*source.schema.types, *(node.schema.types[index] for index in added)),
    )
    changes: dict[str, object] = {}
    if isinstance(node, logical.WindowTable):
        changes["time"] = places[node.time]
        if node.partition is not None:
            changes["partition"] = tuple(places[index] for index in node.partition)
    elif isinstance(node, Expand):
        changes["keys"] = tuple(_moved(key, places) for key in node.keys)
    elif isinstance(node, logical.Correlate):
        changes["args"] = tuple(_moved(arg, places) for arg in node.args)
        if node.condition is not None:
            changes["condition"] = _moved(node.condition, moved)
    else:
        changes["partition"] = tuple(_moved(each, places) for each in node.partition)
        changes["keys"] = _moved_keys(node.keys, places)
        changes["calls"] = _moved_calls(node.calls, places)
    return replace(node, schema=schema, input=source, **changes), moved


def _match(node: Match, pruning: _Pruning) -> tuple[Node, Places]:
    source, places = pruning.narrow(node.input)

    def moved(part: Typed) -> Typed | None:
        if isinstance(part, MatchedField):
            return replace(part, column=places[part.column])
        if isinstance(part, MatchedAggregate):
            return replace(part, call=_moved_calls([part.call], places)[0])
        return None

    made = replace(
        node,
        input=source,
        partition=tuple(places[index] for index in node.partition),
        keys=_moved_keys(node.keys, places),
        definitions=tuple(rewrite(each, moved) for each in node.definitions),
        measures=tuple(rewrite(each, moved) for each in node.measures),
    )
    return made, _identity(node)


def _two_inputs(node: Any, pruning: _Pruning) -> tuple[Node, Places]:
    left, left_places = pruning.narrow(node.left)
    right, right_places = pruning.narrow(node.right)
    width, now = len(node.left.schema), len(left.schema)
    both = {**left_places, **{width + i: now + place for i, place in right_places.items()}}
    changes: dict[str, Any] = {}
    if node.condition is not None:
        changes["condition"] = _moved(node.condition, both)
    if isinstance(node, TemporalJoin):
        changes["time"] = left_places[node.time]
        if node.version is not None:
            changes["version"] = right_places[node.version]
    places = left_places if isinstance(node, SemiJoin) else both
    schema = node.schema.projected(sorted(places, key=lambda index: places[index]))
    return replace(node, schema=schema, left=left, right=right, **changes), places


def _table_scan(node: logical.TableScan, pruning: _Pruning) -> tuple[Node, Places]:
    """Let the connector leave columns out; metadata stays, and so does a key."""
    declared = node.table.schema
    width = len(declared.physical)
    key = {node.schema.names.index(name) for name in declared.primary_key or ()}
    columns = sorted(index for index in pruning.needed(node) | key if index < width)
    source = node.source.projected(tuple(columns)) if len(columns) < width else None
    if source is None:
        return node, _identity(node)
    kept = [*columns, *range(width, len(node.schema))]
    places = {index: place for place, index in enumerate(kept)}
    return replace(node, schema=node.schema.projected(kept), source=source), places


def _leaf(node: Node, _pruning: _Pruning) -> tuple[Node, Places]:
    return node, _identity(node)


_MAKE: dict[type[Node], Callable[[Any, _Pruning], tuple[Node, Places]]] = {
    logical.Project: _project,
    logical.Filter: _same_columns,
    logical.Sort: _same_columns,
    logical.AssignWatermarks: _same_columns,
    logical.Aggregate: _aggregate,
    logical.WindowTable: _adding,
    Expand: _adding,
    Over: _adding,
    logical.Correlate: _adding,
    Match: _match,
    logical.Join: _two_inputs,
    SemiJoin: _two_inputs,
    TemporalJoin: _two_inputs,
    logical.TableScan: _table_scan,
    logical.ExternalScan: _leaf,
    logical.Values: _leaf,
}
