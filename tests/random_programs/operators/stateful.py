"""Bodies of functions with keyed state and timers."""

from __future__ import annotations

from dataclasses import dataclass

from tests.random_programs.draft import Draft
from tests.random_programs.expressions import condition, expression, integer
from tests.random_programs.program import Line
from tests.random_programs.shapes import (
    LONG,
    STR,
    Shape,
    random_scalar,
    random_shape,
    tuple_of,
    type_of,
    wrong_type_of,
)
from tests.random_programs.values import literal

_ANYTHING = "Types.PICKLED_BYTE_ARRAY()"


@dataclass(frozen=True)
class _State:
    """A state: its attribute, how it is made, what changes it, and what reads it."""

    opened: str
    changes: list[Line]
    reads: tuple[str, Shape]


class StatefulBody:
    """The parts of a function with one to three states.

    Args:
        draft: the program in the making.
        shape: of the elements.
        source: what an element is called.
    """

    def __init__(self, draft: Draft, shape: Shape, source: str) -> None:
        self._draft, self._shape, self._source = draft, shape, source
        makers = [
            self._value,
            self._value,
            self._list,
            self._map,
            self._reducing,
            self._aggregating,
        ]
        chosen = draft.rng.choices(makers, k=draft.rng.choice([1, 1, 2, 3]))
        self._states = [make(f"state{number}") for number, make in enumerate(chosen)]

    def opened(self) -> list[Line]:
        """Return the body of ``open``."""
        return [state.opened for state in self._states]

    def changes(self) -> list[Line]:
        """Return the lines that change the states for an element."""
        return [line for state in self._states for line in state.changes]

    def result(
        self, key: str | None, key_shape: Shape, timestamp: bool = False
    ) -> tuple[str, Shape, bool]:
        """Return an expression of what was read, its shape, and whether the key comes first."""
        reads = [state.reads for state in self._states]
        if timestamp:
            reads.append(("ctx.timestamp()", LONG))
        shapes = [shape for _, shape in reads]
        parts = [source for source, _ in reads]
        if key is None:
            return f"({', '.join(parts)},)", tuple_of(*shapes), False
        return f"({key}, {', '.join(parts)})", tuple_of(key_shape, *shapes), True

    def emits(self, made: str) -> list[Line]:
        """Return lines that emit a result, or not."""
        when = condition(self._draft.rng, self._shape, self._source)
        return self._draft.rng.choice([
            [f"yield {made}"],
            [f"yield {made}"],
            [[f"if {when}:", f"yield {made}"]],
            [f"yield {made}", [f"if {when}:", f"yield {made}"]],
        ])  # fmt: skip

    def registers(self, timed: bool) -> list[Line]:
        """Return lines that register timers, and perhaps delete one."""
        rng, service = self._draft.rng, "ctx.timer_service()"
        base = "ctx.timestamp()" if timed else f"10 * {integer(rng, self._shape, self._source)}"
        due = f"{base} + {rng.randint(0, 20)}"
        if rng.random() < 0.15:
            due = rng.choice(["0", "-5", "2**63 - 1", f"{service}.current_watermark() + 1"])
        lines: list[Line] = [f"{service}.register_event_time_timer({due})"]
        if rng.random() < 0.3:
            when = condition(rng, self._shape, self._source)
            later = f"{service}.delete_event_time_timer({base} + {rng.randint(0, 20)})"
            if rng.random() < 0.3:
                later = f"{service}.delete_event_time_timer({due})"
            lines.append([f"if {when}:", later])
        return lines

    def on_timer(self, made: str, shape: Shape, batch: bool) -> list[Line]:
        """Return the body of ``on_timer``, which emits what elements do.

        In BATCH mode real PyFlink loses state that a timer reads, so that none is read.
        """
        rng = self._draft.rng
        if batch:
            rest = [literal(rng, part) for part in shape.parts[1:]]
            made = f"(ctx.get_current_key(), {', '.join(rest)})"
        lines: list[Line] = [f"yield {made}"]
        if rng.random() < 0.3:
            again = (
                f"ctx.timer_service().register_event_time_timer(timestamp + {rng.randint(1, 30)})"
            )
            lines.append(["if timestamp < 60:", again])
        if rng.random() < 0.2 and not batch:
            state = rng.randrange(len(self._states))
            lines.append(f"self.state{state}.clear()")
        return lines

    def _type(self, shape: Shape) -> str:
        kind = self._draft.rng.random()
        if kind < 0.4:
            return _ANYTHING
        if kind < 0.45:
            return wrong_type_of(self._draft.rng, shape)
        return type_of(self._draft.rng, shape)

    def _expression(self, shape: Shape) -> str:
        return expression(self._draft.rng, shape, self._shape, self._source)

    def _value(self, name: str) -> _State:
        rng, it = self._draft.rng, f"self.{name}"
        read = f"{it}.value()"
        if rng.random() < 0.6:
            shape = Shape("int")
            read = rng.choice([read, f"({read} or 0)", f"({read} or 0)"])
            added = integer(rng, self._shape, self._source)
            changes: list[Line] = [f"{it}.update(({it}.value() or 0) + {rng.choice(['1', added])})"]
        else:
            shape = random_shape(rng, 1)
            changes = [f"{it}.update({self._expression(shape)})"]
        if rng.random() < 0.3:
            changes = [[f"if {condition(rng, self._shape, self._source)}:", *changes]]
        if rng.random() < 0.2:
            when = condition(rng, self._shape, self._source)
            changes.append([f"if {when}:", f"{it}.clear()"])
        return _State(
            f"{it} = runtime_context.get_state("
            f"ValueStateDescriptor({name!r}, {self._type(shape)}))",
            changes,
            (read, shape),
        )

    def _list(self, name: str) -> _State:
        rng, it = self._draft.rng, f"self.{name}"
        shape = random_shape(rng, 1)
        added = self._expression(shape)
        changes: list[Line] = [
            rng.choice([f"{it}.add({added})", f"{it}.add({added})", f"{it}.add_all([{added}] * 2)"])
        ]
        if rng.random() < 0.3:
            when = condition(rng, self._shape, self._source)
            cleared = rng.choice([f"{it}.clear()", f"{it}.update([{added}])", f"{it}.update([])"])
            changes.append([f"if {when}:", cleared])
        read = rng.choice([f"list({it})", f"list({it}.get())", f"[x for x in {it}.get()]"])
        return _State(
            f"{it} = runtime_context.get_list_state("
            f"ListStateDescriptor({name!r}, {self._type(shape)}))",
            changes,
            (read, Shape("list", (shape,))),
        )

    def _map(self, name: str) -> _State:
        rng, it = self._draft.rng, f"self.{name}"
        key, shape = rng.choice([Shape("int"), Shape("str")]), random_scalar(rng)
        at, put = self._expression(key), self._expression(shape)
        changes: list[Line] = [
            rng.choice([f"{it}.put({at}, {put})", f"{it}.put_all([({at}, {put})])"])
        ]
        if rng.random() < 0.3:
            when = condition(rng, self._shape, self._source)
            changes.append([
                f"if {when} and {it}.contains({at}):",
                rng.choice([f"{it}.remove({at})", f"{it}.clear()"]),
            ])  # fmt: skip
        read = rng.choice([
            f"str(sorted({it}.items(), key=repr))",
            f"str(sorted({it}.keys(), key=repr))",
            f"str(sorted({it}.values(), key=repr))",
            f"str({it}.get({at if self._source == 'v' else 1}))",
            f"str({it}.is_empty())",
        ])  # fmt: skip
        types = f"{self._type(key)}, {self._type(shape)}"
        return _State(
            f"{it} = runtime_context.get_map_state(MapStateDescriptor({name!r}, {types}))",
            changes,
            (read, STR),
        )

    def _reducing(self, name: str) -> _State:
        rng, it = self._draft.rng, f"self.{name}"
        shape = Shape("int")
        body = rng.choice(["a + b", "max(a, b)", "a * 2 - b"])
        function = f"lambda a, b: {body}"
        if rng.random() < 0.3:
            define = self._draft.define("ReduceFunction", reduce=("a, b", [f"return {body}"]))
            function = f"{define}()"
        added = integer(rng, self._shape, self._source)
        return _State(
            f"{it} = runtime_context.get_reducing_state("
            f"ReducingStateDescriptor({name!r}, {function}, {self._type(shape)}))",
            [f"{it}.add({added})"],
            (f"{it}.get()", shape),
        )

    def _aggregating(self, name: str) -> _State:
        rng, it = self._draft.rng, f"self.{name}"
        function = aggregate(self._draft, "value")
        kind = self._type(tuple_of(Shape("int"), Shape("int")))
        added = integer(rng, self._shape, self._source)
        return _State(
            f"{it} = runtime_context.get_aggregating_state("
            f"AggregatingStateDescriptor({name!r}, {function}(), {kind}))",
            [f"{it}.add({added})"],
            (f"{it}.get()", Shape("float")),
        )


def aggregate(draft: Draft, number: str, first: str = "0", start: str = "0") -> str:
    """Define an AggregateFunction: the sum and the count of a number of each element.

    Args:
        draft: the program in the making.
        number: an expression over ``value``.
        first: what the accumulator keeps of the element besides.
        start: what it has for that at first.
    """
    three = start != "0"
    kept, begin = (f", {first}", f", {start}") if three else ("", "")
    result = draft.rng.choice(["accumulator[0] / accumulator[1]", "accumulator[0]"])
    if three:
        result = f"(accumulator[2], {result})"
    return draft.define(
        "AggregateFunction",
        create_accumulator=("", [f"return (0, 0{begin})"]),
        add=("value, accumulator", [
            f"return (accumulator[0] + {number}, accumulator[1] + 1{kept})"
        ]),
        get_result=("accumulator", [f"return {result}"]),
        merge=("a, b", [f"return (a[0] + b[0], a[1] + b[1]{', a[2]' if three else ''})"]),
    )  # fmt: skip
