"""Operators that know one element at a time."""

from __future__ import annotations

from dataclasses import replace

from tests.random_programs.draft import Draft, Stream
from tests.random_programs.expressions import condition, expression, integer, truth
from tests.random_programs.program import ANY, Line
from tests.random_programs.shapes import (
    LONG,
    STR,
    UNKNOWN,
    Shape,
    random_scalar,
    random_shape,
    tuple_of,
    type_of,
    wrong_type_of,
)

Target = tuple[Shape, str, bool]
"""A shape, an expression that has it, and whether its first field is that of the given value."""


def target(draft: Draft, given: Shape, source: str = "v") -> Target:
    """Choose what a function makes of a value; where it keeps the first field, order can stay."""
    rng = draft.rng
    keeps = given.kind == "tuple" and rng.random() < 0.65
    if keeps:
        rest = [random_scalar(rng) for _ in range(rng.randint(1, 3))]
        if rng.random() < 0.7 and len(given.parts) > 2:
            rest = [*given.parts[1:]]
        made = tuple_of(given.parts[0], *rest)
        inner = [expression(rng, part, given, source) for part in rest]
        if rng.random() < 0.6 and len(given.parts) > 2:
            inner[0] = f"{source}[1]"
        return made, f"({source}[0], {', '.join(inner)})", True
    made = random_shape(rng)
    return made, expression(rng, made, given, source), False


def mapped(draft: Draft, stream: Stream) -> Stream:
    """map, as a lambda or a class."""
    if draft.chance(0.08):
        function = draft.rng.choice(["str", "repr", "lambda v: [v, v]", "lambda v: {'a': v}"])
        return _applied(draft, stream, "map", function, UNKNOWN, keeps=False)
    shape, made, keeps = target(draft, stream.shape)
    function = f"lambda v: {made}"
    if draft.chance(0.05):
        function, shape = _knows_its_task(draft, made), tuple_of(shape, UNKNOWN)
    elif draft.chance(0.3):
        name = draft.define(
            "MapFunction",
            open=("runtime_context", ["self.count = 0"]),
            map=("v", ["self.count += 1", f"return {made}"]),
        )
        function = f"{name}()"
    return _applied(draft, stream, "map", function, shape, keeps)


def _knows_its_task(draft: Draft, made: str) -> str:
    """Define a map that adds what its context says. Which subtask has an element may differ."""
    names = ["number_of_parallel_subtasks", "max_number_of_parallel_subtasks", "attempt_number"]
    if draft.parallelism == 1:
        names.append("index_of_this_subtask")
    context = ", ".join(f"runtime_context.get_{name}()" for name in names)
    name = draft.define(
        "MapFunction",
        open=("runtime_context", [f"self.task = ({context})"]),
        map=("v", [f"return ({made}, self.task)"]),
    )
    return f"{name}()"


def flat_mapped(draft: Draft, stream: Stream) -> Stream:
    """flat_map, with whatever may be iterated."""
    rng = draft.rng
    shape, made, keeps = target(draft, stream.shape)
    when = condition(rng, stream.shape)
    function = rng.choice([
        f"lambda v: [{made}]",
        f"lambda v: [{made}] * ({integer(rng, stream.shape)} % 3)",
        f"lambda v: ({made} for _ in range({integer(rng, stream.shape)} % 3))",
        f"lambda v: ({made},) if {when} else ()",
        f"lambda v: iter([{made}])",
        f"lambda v: dict(a={made}).values()",
    ])  # fmt: skip
    if draft.chance(0.3):
        body: list[Line] = [f"yield {made}", [f"if {when}:", f"yield {made}"]]
        name = draft.define("FlatMapFunction", flat_map=("v", rng.sample(body, rng.choice([1, 2]))))
        function = f"{name}()"
    if draft.chance(0.05):
        function, shape, keeps = draft.rng.choice(["str", "lambda v: {'a': 1, 'b': v}"]), STR, False
    return _applied(draft, stream, "flat_map", function, shape, keeps)


_CHANGES = (
    ["v.append(len(v))", "yield v", "v.append('again')", "yield v"],
    ["yield v", "v.clear()", "yield v"],
    ["kept = [v, v]", "yield kept", "kept.pop()", "yield kept"],
)


def mutated(draft: Draft, stream: Stream) -> Stream:
    """Lists that a function changes after it has emitted them, and keeps changing."""
    made = expression(draft.rng, Shape("int"), stream.shape)
    lists = _applied(draft, stream, "map", f"lambda v: [{made}]", UNKNOWN, keeps=False)
    body: list[Line] = list(draft.rng.choice(_CHANGES))
    name = draft.define("FlatMapFunction", flat_map=("v", body))
    return _applied(draft, lists, "flat_map", f"{name}()", UNKNOWN, keeps=False)


def filtered(draft: Draft, stream: Stream) -> Stream:
    """filter, by whatever is true or false."""
    kept = truth(draft.rng, stream.shape)
    function = f"lambda v: {kept}"
    if draft.chance(0.25):
        function = f"{draft.define('FilterFunction', filter=('v', [f'return {kept}']))}()"
    order = draft.through(stream, keeps_first=True)
    return draft.stream(stream, "filter", function, order=order, width=draft.parallelism, key=None)


def processed(draft: Draft, stream: Stream) -> Stream:
    """process of a stream without a key, perhaps with side outputs."""
    rng = draft.rng
    shape, made, keeps = target(draft, stream.shape, "value")
    when = condition(rng, stream.shape, "value")
    if draft.chance(0.3):
        shape, keeps = tuple_of(shape, LONG, LONG), False
        made = f"({made}, ctx.timestamp(), ctx.timer_service().current_watermark())"
    body: list[Line] = rng.choice([
        [f"yield {made}"],
        [f"yield {made}"],
        [f"return [{made}]"],
        [[f"if {when}:", f"yield {made}"]],
        [[f"if {when}:", f"return [{made}]"], "return None"],
        [f"yield {made}", f"yield {made}"],
    ])  # fmt: skip
    side = None
    if draft.chance(0.4) and any("yield" in str(line) for line in body):
        side = target(draft, stream.shape, "value")
        tag = draft.constant("TAG", _tag(draft, side[0]))
        inner: Line = f"yield {tag}, {side[1]}"
        body.insert(0, [f"if {when}:", inner] if draft.chance(0.5) else inner)
    name = draft.define("ProcessFunction", process_element=("value, ctx", body))
    stream = _plain(draft, stream)
    main = _applied(draft, stream, "process", f"{name}()", shape, keeps)
    if side is None:
        return main
    order = draft.through(stream, keeps_first=side[2])
    taken = draft.stream(
        main, "get_side_output", tag, shape=side[0], order=order, typed=_type_of(draft, tag)
    )
    return draft.rng.choice([main, taken])


def side_type(draft: Draft, shape: Shape) -> str:
    """Choose the type of a side output, which is never wrong but here and there."""
    if draft.chance(0.3):
        return "Types.PICKLED_BYTE_ARRAY()"
    return wrong_type_of(draft.rng, shape) if draft.chance(0.05) else type_of(draft.rng, shape)


def partitioned(draft: Draft, stream: Stream) -> Stream | None:
    """Sends elements elsewhere."""
    methods = ["rebalance", "rescale", "shuffle", "broadcast", "forward", "partition_custom"]
    method = draft.rng.choice(methods)
    if method == "forward" and stream.width != draft.parallelism:
        return None
    stream = _plain(draft, stream)
    one = draft.parallelism == stream.width == 1
    order = stream.order if one else ANY
    arguments = []
    if method == "partition_custom":
        number = integer(draft.rng, stream.shape)
        arguments = ["lambda key, count: key % count", f"lambda v: {number}"]
    sent = draft.stream(stream, method, *arguments, order=order)
    # what follows a partitioning decides how many receive
    return mapped(draft, sent)


def decorated(draft: Draft, stream: Stream) -> Stream | None:
    """Settings of an operator that change no result."""
    if stream.key is not None or stream.name == "s0":
        return None
    number = len(draft.steps)
    method, argument = draft.rng.choice([
        ("name", f"'named {number}'"),
        ("uid", draft.rng.choice(["'same'", f"'uid-{number}'", f"'uid-{number}'"])),
        ("set_description", "'described'"),
        ("disable_chaining", ""),
        ("start_new_chain", ""),
        ("set_max_parallelism", "128"),
        ("set_buffer_timeout", "10"),
        ("slot_sharing_group", "'other'"),
    ])  # fmt: skip
    return draft.stream(stream, method, *([argument] if argument else []))


def narrowed(draft: Draft, stream: Stream) -> Stream | None:
    """An operator that is not parallel between parallel ones."""
    if draft.parallelism == 1 or stream.key is not None:
        return None
    shape, made, keeps = target(draft, stream.shape)
    kept = stream.order if stream.width == 1 or (keeps and stream.order != ANY) else ANY
    name = draft.call(stream.name, "map", f"lambda v: {made}")
    wide = draft.add(replace(stream, name=name, shape=shape, typed=None, order=ANY))
    return draft.stream(wide, "set_parallelism", "1", width=1, order=kept)


def projected(draft: Draft, stream: Stream) -> Stream | None:
    """project, of tuples that are declared."""
    if stream.key is not None or not (stream.typed or "").startswith("Types.TUPLE"):
        return None
    count = len(stream.shape.parts)
    if stream.shape.kind != "tuple" or not count:
        return None
    fields = [draft.rng.randrange(count) for _ in range(draft.rng.randint(1, 3))]
    shape = tuple_of(*(stream.shape.parts[field] for field in fields))
    order = draft.through(stream, keeps_first=fields[0] == 0)
    types = [type_of(draft.rng, part) for part in shape.parts]
    return draft.stream(
        stream, "project", *map(str, fields), shape=shape, order=order, width=draft.parallelism,
        typed=f"Types.TUPLE([{', '.join(types)}])",
    )  # fmt: skip


def _tag(draft: Draft, shape: Shape) -> str:
    return f"OutputTag('side {len(draft.constants)}', {side_type(draft, shape)})"


def _type_of(draft: Draft, tag: str) -> str:
    return draft.constants[tag].split(", ", 1)[1][:-1]


def _plain(draft: Draft, stream: Stream) -> Stream:
    """Return a stream without its key: what a ProcessFunction needs."""
    if stream.key is None:
        return stream
    before = next(s for s in draft.steps if s.name == stream.name).of
    return replace(stream, name=before, key=None)


def _applied(
    draft: Draft, stream: Stream, method: str, function: str, shape: Shape, keeps: bool
) -> Stream:
    typed = draft.declared(shape)
    name = draft.call(stream.name, method, function, output_type=typed)
    order = draft.through(stream, keeps)
    return draft.add(
        replace(
            stream, name=name, shape=shape, typed=typed, order=order, width=draft.parallelism,
            key=None,
        )
    )  # fmt: skip
