"""Windows: of time, of counts and of everything, with triggers and lateness."""

from __future__ import annotations

from dataclasses import replace

from tests.random_programs.draft import Draft, Stream
from tests.random_programs.expressions import integer
from tests.random_programs.operators.keyed import reduction
from tests.random_programs.operators.sources import timed
from tests.random_programs.operators.stateful import aggregate
from tests.random_programs.operators.stateless import side_type
from tests.random_programs.operators.triggers import trigger
from tests.random_programs.program import ANY, BY_FIRST, TOTAL, Line
from tests.random_programs.shapes import STR, Shape, tuple_of

_WINDOW = "str(window)"


def windowed(draft: Draft, stream: Stream) -> Stream | None:
    """A window operation of a keyed stream that has timestamps."""
    if not stream.timed:
        return None
    rng = draft.rng
    merging = not draft.batch and rng.random() < 0.3
    assigner = _session(draft) if merging else _aligned(draft)
    if draft.batch:  # several windows of a key hang in real PyFlink
        assigner = "TumblingEventTimeWindows.of(Time.hours(1))"
    windows = draft.call(stream.name, "window", assigner)
    windows, on_element, late = _settings(draft, stream, windows, merging)
    made = _apply(draft, stream, windows, merging, on_element)
    if made is None or late is None:
        return made
    order = draft.through(stream, keeps_first=True)
    taken = draft.stream(
        made, "get_side_output", late, shape=stream.shape, typed="late", order=order, ends=False
    )
    return taken if draft.chance(0.5) else made


def counted(draft: Draft, stream: Stream) -> Stream | None:
    """count_window, or a window that a trigger counts for."""
    if not stream.ordered_by_key:
        return None
    rng = draft.rng
    size, slide = rng.randint(1, 4), rng.randint(1, 4)
    kind = rng.random()
    if kind < 0.5:
        windows = draft.call(stream.name, "count_window", str(size))
    elif kind < 0.7:
        windows = draft.call(stream.name, "count_window", str(size), str(slide))
    else:
        windows = draft.call(stream.name, "window", "GlobalWindows.create()")
        trigger = f"CountTrigger.of({size})"
        if rng.random() < 0.6:
            trigger = f"PurgingTrigger.of({trigger})"
        windows = draft.call(windows, "trigger", trigger)
    return _apply(draft, stream, windows, merging=False, on_element=True)


def all_windowed(draft: Draft, stream: Stream) -> Stream | None:
    """window_all, which is not parallel."""
    if draft.batch:
        return None
    rng = draft.rng
    if not stream.timed:
        stream = timed(draft, stream)
    elif stream.key is not None:
        return None
    assigner = rng.choice([_aligned, _session])(draft)
    windows = draft.call(stream.name, "window_all", assigner)
    function = draft.define(
        "ProcessAllWindowFunction",
        process=("context, elements", [
            f"window = {'context.window()'}",
            f"yield {_WINDOW}, {_contents(stream.order == TOTAL)}",
        ]),
    )  # fmt: skip
    made = draft.call(windows, "process", f"{function}()")
    shape = tuple_of(STR, STR)
    return draft.add(
        replace(
            stream, name=made, shape=shape, typed=None, order=TOTAL, width=1, key=None, ends=True
        )
    )


def _aligned(draft: Draft) -> str:
    rng = draft.rng
    size = rng.randint(2, 25)
    offset = f", Time.milliseconds({rng.randrange(size)})" if rng.random() < 0.3 else ""
    if rng.random() < 0.6:
        return f"TumblingEventTimeWindows.of(Time.milliseconds({size}){offset})"
    slide = rng.randint(max(1, size // 4), size + 3)
    offset = f", Time.milliseconds({rng.randrange(slide)})" if offset else ""
    return (
        f"SlidingEventTimeWindows.of(Time.milliseconds({size}), Time.milliseconds({slide}){offset})"
    )


def _session(draft: Draft) -> str:
    if draft.chance(0.7):
        gap = draft.rng.randint(1, 12)
        return f"EventTimeSessionWindows.with_gap(Time.milliseconds({gap}))"
    body = f"return len(str(element)) % {draft.rng.randint(3, 9)} + 1"
    extractor = draft.define("SessionWindowTimeGapExtractor", extract=("element", [body]))
    return f"EventTimeSessionWindows.with_dynamic_gap({extractor}())"


def _settings(
    draft: Draft, stream: Stream, windows: str, merging: bool
) -> tuple[str, bool, str | None]:
    """Add a trigger and lateness, perhaps.

    Returns:
        The windows, whether they fire on elements, and the tag of what is late.
    """
    rng = draft.rng
    on_element = stream.paced
    if rng.random() < 0.4 and not draft.batch:
        made, on_element = trigger(draft, merging, stream.paced)
        windows = draft.call(windows, "trigger", made)
    if rng.random() < (0.5 if stream.paced else 0.25):
        windows = draft.call(windows, "allowed_lateness", str(rng.randint(1, 20)))
    late = None
    if rng.random() < (0.5 if stream.paced else 0.15):
        late = draft.constant("LATE", f"OutputTag('late', {side_type(draft, stream.shape)})")
        windows = draft.call(windows, "side_output_late_data", late)
    return windows, on_element, late


def _apply(
    draft: Draft, stream: Stream, windows: str, merging: bool, on_element: bool
) -> Stream | None:
    """Add what the windows do. Real PyFlink is wrong about some of it; that is left out."""
    rng = draft.rng
    kinds = ["process", "process", "apply", "reduce", "aggregate", "both", "both"]
    if merging:
        kinds = ["process", "apply"]
    if draft.batch and not on_element:
        kinds = ["reduce", "aggregate", "both"]
    kind = rng.choice(kinds)
    makers = {
        "process": _processed, "apply": _applied, "reduce": _reduced, "aggregate": _aggregated,
        "both": _both,
    }  # fmt: skip
    method, arguments, shape, keeps = makers[kind](draft, stream, merging)
    ordered = stream.ordered_by_key
    if on_element and not ordered:
        return None
    typed = None
    options = {}
    if method != "reduce" or len(arguments) == 2:
        typed = draft.declared(shape, 0.7)
        options = {"output_type": typed}
    else:
        typed = stream.typed
    name = draft.call(windows, method, *arguments, **options)
    order = draft.through(
        replace(stream, order=TOTAL if stream.order == TOTAL else BY_FIRST), keeps
    )
    if order == TOTAL and (draft.batch or stream.paced or not on_element):
        order = BY_FIRST  # windows of different keys fire in any order
    if order == BY_FIRST and not (keeps and stream.key == "v[0]"):
        order = ANY
    return draft.add(
        replace(
            stream, name=name, shape=shape, typed=typed, order=order, width=draft.parallelism,
            key=None, ends=not on_element,
        )
    )  # fmt: skip


def _processed(draft: Draft, stream: Stream, merging: bool) -> tuple[str, list[str], Shape, bool]:
    return "process", [f"{_process_function(draft, stream, merging)}()"], _shape(stream), True


def _process_function(draft: Draft, stream: Stream, merging: bool) -> str:
    body: list[Line] = ["window = context.window()"]
    made = f"key, {_WINDOW}, {_contents(stream.ordered_by_key)}"
    if draft.chance(0.3):
        made += ", context.current_watermark()"
    if draft.chance(0.25) and not merging:
        kept = draft.rng.choice(["context.window_state()", "context.global_state()"])
        state = f"{kept}.get_state(ValueStateDescriptor('fired', Types.LONG()))"
        body += [f"fired = {state}", "fired.update((fired.value() or 0) + 1)"]
        made += ", fired.value()"
    body += draft.rng.choice([
        [f"yield {made}"], [f"yield {made}"], [f"yield {made}"] * 2, [f"return [({made})]"],
    ])  # fmt: skip
    return draft.define("ProcessWindowFunction", process=("key, context, elements", body))


def _applied(draft: Draft, stream: Stream, merging: bool) -> tuple[str, list[str], Shape, bool]:
    made = f"yield key, {_WINDOW}, {_contents(stream.ordered_by_key, 'inputs')}"
    function = draft.define("WindowFunction", apply=("key, window, inputs", [made]))
    return "apply", [f"{function}()"], _shape(stream), True


def _reduced(draft: Draft, stream: Stream, merging: bool) -> tuple[str, list[str], Shape, bool]:
    function, keeps = reduction(draft, stream, commutes=not stream.ordered_by_key)
    if not stream.ordered_by_key and stream.shape.kind != "tuple":
        function = "lambda a, b: max(a, b, key=str)"
    return "reduce", [function], stream.shape, keeps


def _aggregated(draft: Draft, stream: Stream, merging: bool) -> tuple[str, list[str], Shape, bool]:
    number = integer(draft.rng, stream.shape, "value")
    if stream.key == "v[0]":
        function = aggregate(draft, number, "value[0]", "None")
        return "aggregate", [f"{function}()"], tuple_of(stream.key_shape, Shape("float")), True
    return "aggregate", [f"{aggregate(draft, number)}()"], Shape("float"), False


def _both(draft: Draft, stream: Stream, merging: bool) -> tuple[str, list[str], Shape, bool]:
    maker = draft.rng.choice([_reduced, _aggregated])
    method, arguments, _, _ = maker(draft, stream, merging)
    function = _process_function(draft, stream, merging)
    return method, [*arguments, f"{function}()"], _shape(stream), True


def _contents(ordered: bool, name: str = "elements") -> str:
    return f"repr(list({name}))" if ordered else f"repr(sorted({name}, key=repr))"


def _shape(stream: Stream) -> Shape:
    return tuple_of(stream.key_shape, STR, STR)
