"""Operators of keyed streams: aggregations, and functions with state."""

from __future__ import annotations

from dataclasses import replace

from tests.random_programs.draft import Draft, Stream
from tests.random_programs.expressions import condition, integer
from tests.random_programs.operators.stateful import StatefulBody
from tests.random_programs.operators.stateless import side_type
from tests.random_programs.program import ANY, BY_FIRST, TOTAL, Line
from tests.random_programs.shapes import INT, Shape, leaves, tuple_of, type_of, wrong_type_of

_KEY_KINDS = {"int", "str", "bool", "float", "date", "decimal", "bytes", "time", "row", "tuple"}


def keyed(draft: Draft, stream: Stream) -> Stream:
    """Key a stream: by its first field, mostly, so that the order of a key stays known."""
    rng = draft.rng
    found = [(s, shape) for s, shape in leaves(stream.shape) if shape.kind in _KEY_KINDS]
    key, shape = "len(str(v))", INT
    if found:
        key, shape = rng.choice(found)
    if stream.shape.kind == "tuple" and rng.random() < 0.8:
        key, shape = "v[0]", stream.shape.parts[0]
    elif rng.random() < 0.3:
        key, shape = f"{integer(rng, stream.shape)} % 2", INT
    typed = None
    if draft.chance(0.4):
        right = draft.chance(0.95)
        typed = type_of(rng, shape) if right else wrong_type_of(rng, shape)
    function = f"lambda v: {key}"
    if draft.chance(0.2):
        function = f"{draft.define('KeySelector', get_key=('v', [f'return {key}']))}()"
    name = draft.call(stream.name, "key_by", function, key_type=typed)
    return draft.add(replace(stream, name=name, key=key, key_shape=shape))


def partitioned_and_keyed(draft: Draft, stream: Stream) -> Stream:
    """key_by after a partitioning, which then has no effect."""
    method = draft.rng.choice(["rebalance", "rescale", "shuffle", "broadcast"])
    name = draft.call(stream.name, method)
    return keyed(draft, replace(stream, name=name))


def aggregated(draft: Draft, stream: Stream) -> Stream | None:
    """sum, min, max, min_by and max_by: rolling, or one result per key in BATCH mode."""
    if not _fixed(draft, stream):
        return None
    method = draft.rng.choice(["sum", "min", "max", "min_by", "max_by"])
    position: int | str = 0
    if stream.shape.kind in {"tuple", "row"}:
        position = draft.rng.randrange(len(stream.shape.parts))
        if stream.shape.kind == "tuple" and stream.shape.parts[position].kind not in {
            "int",
            "float",
        }:
            position = min(2, len(stream.shape.parts) - 1)
        if stream.shape.names and draft.chance(0.5):
            position = repr(stream.shape.names[position])
        elif draft.chance(0.1):
            position = draft.rng.choice([-1, len(stream.shape.parts), "'f0'", "'f1'"])
    keeps = position != 0 or method in {"min_by", "max_by"}
    return _aggregate(draft, stream, method, str(position), keeps)


def reduced(draft: Draft, stream: Stream) -> Stream | None:
    """reduce, with a function that looks at the order or one that does not."""
    function, keeps = reduction(draft, stream, commutes=not stream.ordered_by_key)
    if not (_fixed(draft, stream) or (draft.batch and stream.shape.kind == "tuple")):
        return None
    return _aggregate(draft, stream, "reduce", function, keeps)


def reduction(draft: Draft, stream: Stream, commutes: bool) -> tuple[str, bool]:
    """Return a reduce function, and whether it keeps the first field."""
    shape, rng = stream.shape, draft.rng
    if shape.kind == "tuple" and (commutes or rng.random() < 0.8):
        inner = ["a[0]"] + [
            _combined(draft, part, f"a[{index}]", f"b[{index}]", commutes)
            for index, part in enumerate(shape.parts[1:], 1)
        ]
        body, keeps = f"({', '.join(inner)},)", True
    elif shape.parts or commutes:
        body, keeps = rng.choice(["a", "b", "max(a, b, key=str)"]), stream.key == "v[0]"
    else:
        body, keeps = _combined(draft, shape, "a", "b", commutes=False), False
    if rng.random() < 0.3:
        return f"{draft.define('ReduceFunction', reduce=('a, b', [f'return {body}']))}()", keeps
    return f"lambda a, b: {body}", keeps


def stateful(draft: Draft, stream: Stream) -> Stream | None:
    """map, flat_map or filter with keyed state."""
    if not stream.ordered_by_key:
        return None
    kind = draft.rng.choice(["map", "flat_map", "filter"])
    base = {"map": "MapFunction", "flat_map": "FlatMapFunction", "filter": "FilterFunction"}[kind]
    body = StatefulBody(draft, stream.shape, "v")
    made, shape, keeps = body.result("v[0]" if stream.key == "v[0]" else None, stream.key_shape)
    last: dict[str, Line] = {
        "map": f"return {made}",
        "flat_map": f"yield {made}",
        "filter": f"return {condition(draft.rng, stream.shape)}",
    }
    changes = body.changes()
    if kind == "filter":
        shape, keeps = stream.shape, stream.key == "v[0]"
        changes = [*changes, f"seen = {made}"]
        last[kind] = f"return {condition(draft.rng, shape)} or len(str(seen)) % 2"
    name = draft.define(
        base, open=("runtime_context", body.opened()), **{kind: ("v", [*changes, last[kind]])}
    )
    typed = None if kind == "filter" else draft.declared(shape)
    options = {} if kind == "filter" else {"output_type": typed}
    made_stream = draft.call(stream.name, kind, f"{name}()", **options)
    return draft.add(
        replace(
            stream,
            name=made_stream,
            shape=shape,
            typed=stream.typed if kind == "filter" else typed,
            order=draft.through(stream, keeps),
            width=draft.parallelism,
            key=None,
        )
    )


def processed(draft: Draft, stream: Stream) -> Stream | None:
    """process with state, timers and side outputs."""
    if not stream.ordered_by_key:
        return totalled(draft, stream)
    body = StatefulBody(draft, stream.shape, "value")
    timers = draft.chance(0.5)
    made, shape, keeps = body.result(
        "ctx.get_current_key()", stream.key_shape, timestamp=timers or draft.chance(0.2)
    )
    element = [*body.changes(), *body.emits(made)]
    side = draft.chance(0.2)
    if timers:
        element += body.registers(stream.timed)
    if side:
        tag = draft.constant("TAG", f"OutputTag('side', {side_type(draft, shape)})")
        element.append(
            [f"if {condition(draft.rng, stream.shape, 'value')}:", f"yield {tag}, {made}"]
        )
    methods = {
        "open": ("runtime_context", body.opened()),
        "process_element": ("value, ctx", element),
    }
    if timers:
        methods["on_timer"] = ("timestamp, ctx", body.on_timer(made, shape, draft.batch))
    name = draft.define("KeyedProcessFunction", **methods)
    order = draft.through(stream, keeps)
    if timers and order == TOTAL:
        order = BY_FIRST  # timers of different keys fire in any order
    typed = draft.declared(shape)
    result = replace(
        stream,
        name=draft.call(stream.name, "process", f"{name}()", output_type=typed),
        shape=shape,
        typed=typed,
        order=order if keeps or not timers else ANY,
        width=draft.parallelism,
        key=None,
    )
    draft.add(result)
    if not side:
        return result
    typed = draft.constants[tag].split(", ", 1)[1][:-1]
    taken = draft.stream(result, "get_side_output", tag, typed=typed)
    return taken if draft.chance(0.5) else result


def totalled(draft: Draft, stream: Stream) -> Stream | None:
    """Collects the elements of a key, in whatever order they come, and emits them sorted."""
    if draft.batch:
        return None  # real PyFlink loses state that a timer reads in BATCH mode
    shape = tuple_of(Shape("str"), Shape("list", (Shape("str"),)))
    state = "runtime_context.get_list_state(ListStateDescriptor('all', Types.PICKLED_BYTE_ARRAY()))"
    register = "ctx.timer_service().register_event_time_timer(1000)"
    name = draft.define(
        "KeyedProcessFunction",
        open=("runtime_context", [f"self.all = {state}"]),
        process_element=("value, ctx", ["self.all.add(repr(value))", register]),
        on_timer=("timestamp, ctx", ["yield str(ctx.get_current_key()), sorted(self.all)"]),
    )
    made = draft.call(stream.name, "process", f"{name}()")
    return draft.add(
        replace(
            stream, name=made, shape=shape, typed=None, order=BY_FIRST, ends=True,
            width=draft.parallelism, key=None,
        )
    )  # fmt: skip


def _fixed(draft: Draft, stream: Stream) -> bool:
    return stream.ordered_by_key


def _aggregate(draft: Draft, stream: Stream, method: str, argument: str, keeps: bool) -> Stream:
    order = draft.through(stream, keeps)
    return draft.stream(stream, method, argument, order=order, width=draft.parallelism, key=None)


def _combined(draft: Draft, shape: Shape, a: str, b: str, commutes: bool) -> str:
    rng = draft.rng
    if shape.kind == "int":
        made = [f"{a} + {b}", f"max({a}, {b})", f"min({a}, {b})"]
        return rng.choice(made if commutes else [*made, f"{a} - {b}", f"{a} * 2 - {b}", b])
    if shape.kind in {"float", "str", "decimal"} and not commutes:
        return rng.choice([f"{a} + {b}", f"max({a}, {b})", a, b])
    if shape.kind in {"str", "bool", "date", "decimal"}:
        return f"{rng.choice(['max', 'min'])}({a}, {b})"
    return f"max({a}, {b}, key=repr)" if commutes else rng.choice([a, b])
