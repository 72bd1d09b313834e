"""Operators of two streams: union, connect and broadcast."""

from __future__ import annotations

from dataclasses import replace

from tests.random_programs.draft import Draft, Stream
from tests.random_programs.expressions import condition, expression, integer
from tests.random_programs.operators.stateless import filtered, mapped, target
from tests.random_programs.program import ANY, BY_FIRST
from tests.random_programs.shapes import STR, UNKNOWN, Shape, tuple_of


def united(draft: Draft, stream: Stream) -> Stream | None:
    """union with a stream of the same type: another one, a part of the same, or itself."""
    rng = draft.rng
    others = [
        s for s in draft.streams
        if s.key is None and (s.typed is None) == (stream.typed is None) and s.timed == stream.timed
    ]  # fmt: skip
    if stream.key is not None or not others:
        return None
    chosen = rng.choices(others, k=rng.choice([1, 1, 1, 2]))
    if stream.typed is not None or rng.random() < 0.5:
        chosen = [filtered(draft, stream)]
    shape = stream.shape if all(s.shape == stream.shape for s in chosen) else UNKNOWN
    width = draft.parallelism
    return draft.stream(
        stream, "union", *(s.name for s in chosen), shape=shape, order=ANY, width=width
    )


def connected(draft: Draft, stream: Stream) -> Stream | None:
    """connect, and a function without state for both inputs."""
    other = draft.rng.choice([s for s in draft.streams if s.timed == stream.timed] or [stream])
    if draft.batch and (stream.key is None) != (other.key is None):
        return None  # real PyFlink fails to sort them
    both = draft.call(stream.name, "connect", other.name)
    kind = draft.rng.choice(["map", "flat_map", "process"])
    first, second = _given(stream, other)
    shape, one, _ = target(draft, first, "value")
    two = expression(draft.rng, shape, second, "value")
    if draft.chance(0.2):
        shape, two = UNKNOWN, target(draft, second, "value")[1]
    if kind == "map":
        methods = {"map1": ("value", [f"return {one}"]), "map2": ("value", [f"return {two}"])}
        base = "CoMapFunction"
    elif kind == "flat_map":
        when = condition(draft.rng, first, "value")
        body: list = [[f"if {when}:", f"yield {one}"]]
        methods = {"flat_map1": ("value", body), "flat_map2": ("value", [f"return [{two}]"])}
        base = "CoFlatMapFunction"
    else:
        methods = {
            "process_element1": ("value, ctx", [f"yield {one}"]),
            "process_element2": ("value, ctx", [f"yield {two}"]),
        }
        base = "CoProcessFunction"
    if stream.key is not None and other.key is not None and kind == "process":
        base = "KeyedCoProcessFunction"
    name = draft.define(base, **methods)
    made = draft.call(both, kind, f"{name}()")
    return draft.add(
        replace(
            stream, name=made, shape=shape, typed=None, order=ANY, width=draft.parallelism, key=None
        )
    )


def _given(one: Stream, other: Stream) -> tuple[Shape, Shape]:
    """Return a function's view of two streams: with one key only, rows of it and the element."""

    def seen(stream: Stream) -> Shape:
        if stream.key is None or (one.key is not None and other.key is not None):
            return stream.shape
        return Shape("row", (stream.key_shape, stream.shape), ("f0", "f1"))

    return seen(one), seen(other)


def joined(draft: Draft, stream: Stream) -> Stream | None:
    """Two keyed streams whose elements meet in state; a timer at the end emits them."""
    rng = draft.rng
    if stream.key is None or draft.batch:
        return None
    other = _part(draft, replace(stream, key=None))
    keyed = next(s for s in draft.steps if s.name == stream.name)
    same = None if draft.chance(0.1) else keyed.options.get("key_type")
    other_key = draft.call(other.name, "key_by", f"lambda v: {stream.key}", key_type=same)
    both = draft.call(stream.name, "connect", other_key)
    state = "runtime_context.get_list_state(ListStateDescriptor({!r}, Types.PICKLED_BYTE_ARRAY()))"
    register = f"ctx.timer_service().register_event_time_timer({rng.randint(50, 99)})"
    name = draft.define(
        "KeyedCoProcessFunction",
        open=("runtime_context", [
            f"self.left = {state.format('left')}", f"self.right = {state.format('right')}",
        ]),
        process_element1=("value, ctx", ["self.left.add(repr(value))", register]),
        process_element2=("value, ctx", ["self.right.add(repr(value))", register]),
        on_timer=("timestamp, ctx", [
            "yield ctx.get_current_key(), str((sorted(self.left), sorted(self.right)))"
        ]),
    )  # fmt: skip
    made = draft.call(both, "process", f"{name}()")
    return draft.add(
        replace(
            stream, name=made, shape=tuple_of(stream.key_shape, STR), typed=None, order=BY_FIRST,
            width=draft.parallelism, key=None, ends=True,
        )
    )  # fmt: skip


def broadcast(draft: Draft, stream: Stream) -> Stream | None:
    """Rules that are broadcast; the elements of a key look at them when all have come."""
    rng = draft.rng
    if stream.key is None or draft.batch:
        return None
    rules = _part(draft, replace(stream, key=None))
    anything = "Types.PICKLED_BYTE_ARRAY()"
    descriptor = draft.constant("RULES", f"MapStateDescriptor('rules', {anything}, {anything})")
    sent = draft.call(rules.name, "broadcast", descriptor)
    both = draft.call(stream.name, "connect", sent)
    number = integer(rng, rules.shape, "value")
    state = f"runtime_context.get_list_state(ListStateDescriptor('all', {anything}))"
    register = f"ctx.timer_service().register_event_time_timer({rng.randint(50, 99)})"
    name = draft.define(
        "KeyedBroadcastProcessFunction",
        open=("runtime_context", [f"self.all = {state}"]),
        process_element=("value, ctx", ["self.all.add(repr(value))", register]),
        process_broadcast_element=("value, ctx", [
            f"ctx.get_broadcast_state({descriptor}).put({number}, {number} * 2)",
        ]),
        on_timer=("timestamp, ctx", [
            f"rules = sorted(ctx.get_broadcast_state({descriptor}).items())",
            "yield ctx.get_current_key(), str((sorted(self.all), rules))",
        ]),
    )  # fmt: skip
    made = draft.call(both, "process", f"{name}()")
    return draft.add(
        replace(
            stream, name=made, shape=tuple_of(stream.key_shape, STR), typed=None, order=BY_FIRST,
            width=draft.parallelism, key=None, ends=True,
        )
    )  # fmt: skip


def broadcast_plain(draft: Draft, stream: Stream) -> Stream | None:
    """Rules for a stream without a key: elements and rules are emitted, each by itself."""
    if stream.key is not None or draft.batch:
        return None
    # real PyFlink fails with a Python operator right before, unless elements are sent elsewhere
    stream = draft.stream(stream, "rebalance", order=ANY)
    rules = filtered(draft, stream)
    anything = "Types.PICKLED_BYTE_ARRAY()"
    descriptor = draft.constant("RULES", f"MapStateDescriptor('rules', {anything}, {anything})")
    both = draft.call(stream.name, "connect", draft.call(rules.name, "broadcast", descriptor))
    shape, made, _ = target(draft, stream.shape, "value")
    number = integer(draft.rng, rules.shape, "value")
    rule = expression(draft.rng, shape, rules.shape, "value")
    state = f"ctx.get_broadcast_state({descriptor})"
    name = draft.define(
        "BroadcastProcessFunction",
        process_element=("value, ctx", [f"yield {made}"]),
        process_broadcast_element=("value, ctx", [
            f"{state}.put({number}, {number})",
            [f"if {state}.contains({number}):", f"yield {rule}"],
        ]),
    )  # fmt: skip
    made_stream = draft.call(both, "process", f"{name}()")
    return draft.add(
        replace(
            stream, name=made_stream, shape=shape, typed=None, order=ANY, width=draft.parallelism
        )
    )


def _part(draft: Draft, stream: Stream) -> Stream:
    """Return a stream made of some elements of another one."""
    before = next(s for s in draft.steps if s.name == stream.name).of
    unkeyed = replace(stream, name=before)
    if draft.chance(0.5) or stream.shape.kind != "tuple":
        return filtered(draft, unkeyed)
    made = mapped(draft, unkeyed)
    return made if made.shape == stream.shape else filtered(draft, unkeyed)
