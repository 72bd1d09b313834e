"""reduce, sum, min, max, min_by and max_by: rolling on keyed streams, final in BATCH mode.

STREAMING emits the new value for each element, BATCH the last one of each key. The first element of
a key comes out as it is.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.contract.operator import Operator, Process
from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK, MIN_TIMESTAMP
from pyflink_on_spark._runtime.operators.function_loop import FusableOperator, LoopCode
from pyflink_on_spark._runtime.operators.stateless import UdfOperator, keyed_state_of
from pyflink_on_spark._runtime.state.keyed_state import Coercion, coercion
from pyflink_on_spark._runtime.types.fitting import stored_test
from pyflink_on_spark.common.typeinfo import ListTypeInfo, RowTypeInfo, TupleTypeInfo
from pyflink_on_spark.common.types import Row

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark._runtime.user_code import UserFunction


Combine = Callable[[Any, Any], Any]


_COMBINED: dict[str, Combine] = {
    "sum": operator.add,
    "min": min,
    "max": max,
    "min_by": min,
    "max_by": max,
}
STATE_NAME = "_rolling"
Held = tuple[int, int | None, int, object]
"""Sort key, timestamp in ms or None, input, value."""


def aggregation(
    kind: str, position: int | str, example: object, fit: Callable[[object], object] | None = None
) -> Combine:
    """Return the function that combines two elements.

    Args:
        kind: ``sum``, ``min``, ``max``, ``min_by`` or ``max_by``.
        position: of the field: an int, or a field's name.
        example: an element; all are of its sort: a tuple, list or row, or something else.
        fit: takes a sum, and returns what is kept of it.

    Raises:
        TypeError: such elements have no such field.
    """
    combined = _COMBINED[kind] if fit is None else _fitting(_COMBINED[kind], fit)
    if not isinstance(example, (tuple, list, Row)):
        _check_whole(kind, position)
        return combined
    if kind == "min_by":
        return lambda first, second: second if second[position] < first[position] else first
    if kind == "max_by":
        return lambda first, second: second if second[position] > first[position] else first
    return _of_field(type(example), combined, position)


def field_type(type_info: object, position: int | str) -> object:
    """Return the type of what an aggregation combines; None if that is not declared.

    Args:
        type_info: the type of the elements, or None.
        position: of the field.
    """
    if isinstance(type_info, ListTypeInfo):
        return type_info.elem_type
    if not isinstance(type_info, (RowTypeInfo, TupleTypeInfo)):
        return type_info
    fields = type_info.get_field_types()
    if isinstance(position, str):
        names = list(type_info.get_field_names()) if isinstance(type_info, RowTypeInfo) else []
        return fields[names.index(position)] if position in names else None
    return fields[position] if -len(fields) <= position < len(fields) else None


def _fitting(combined: Combine, fit: Callable[[object], object]) -> Combine:
    return lambda first, second: fit(combined(first, second))


def _check_whole(kind: str, position: object) -> None:
    if position != 0 and kind in ("sum", "min", "max"):
        raise TypeError(
            f"The {position} field selected on a basic type. A field expression on a basic type "
            "can only select the 0th field (which means selecting the entire basic type)."
        )


def _of_field(kind_of_element: type, combined: Combine, position: Any) -> Combine:
    if issubclass(kind_of_element, tuple):

        def of_tuples(first: Any, second: Any) -> object:
            fields = list(first)
            fields[position] = combined(first[position], second[position])
            return tuple(fields)

        return of_tuples

    def of_others(first: Any, second: Any) -> object:
        result = copy(first)
        result[position] = combined(first[position], second[position])
        return result

    return of_others


class RollingOperator(FusableOperator):
    """Keeps a value per key, and combines it with each element.

    Args:
        type_info: the type of the stream, and so of the values; None if untyped.
    """

    keyed = True
    mixes_keys = True
    takes_pairs = True
    name: str = "reduce"
    """The function that combines two elements."""
    uses_state: bool = False
    """True if the combining function may use other state of the key."""

    def __init__(self, type_info: object = None) -> None:
        self._type_info = type_info

    def open(self, context: OperatorContext) -> None:
        """Get ready."""
        self._backend = keyed_state_of(context)
        self._table = self._backend.typed_table(STATE_NAME, "value", self._type_info)
        self._converted = self._backend.converted
        self._first = self.fit(self._type_info) or _as_it_is
        self._cursor = context.cursor
        self._batch = context.task.batch
        self._combine = self.combination(context)

    def combination(self, context: OperatorContext) -> Combine:
        """Return the function that combines two elements."""
        raise NotImplementedError

    def state_parts(self) -> dict[str, str]:
        """Return the name of the combination, and the type of the results."""
        return {"kind": "rolling results", "by": self.name, "of": str(self._type_info)}

    def fit(self, type_info: object) -> Coercion | None:
        """Return the conversion of a result, or of a part of one, to its declared type."""
        return coercion("rolling result", type_info, self._converted)

    @property
    def fusable(self) -> bool:
        """True if each element has a result that needs nothing but the value so far."""
        return not self._batch and not self.uses_state

    def write_lines(self, code: LoopCode) -> None:
        """Combine the element with the value of its key."""
        values, changed = self._table.current, self._table.changed
        current, key = code.new_value(), code.key
        entries, get = code.bind("values", values), code.bind("get", values.get)
        code.add(f"{current} = {get}({key})")
        self._write_combination(code, current)
        code.add(f"{entries}[{key}] = {current}")
        if changed is not None:
            code.add(f"{code.bind('note', changed[None].add)}({key})")
        code.value, code.key = current, None

    def _write_combination(self, code: LoopCode, current: str) -> None:
        """Write what puts the new value in place of the current one."""
        first = code.bind("first", self._first)
        code.add(f"if {current} is None: {current} = {first}({code.value})")
        code.add("else:")
        code.call(current, "combine", self._combine, current, code.value, indent=" ")

    def process(self, pairs: Iterator[object]) -> Iterator[object]:
        """Yield the new value for each element; in BATCH nothing."""
        return self._absorbed(pairs) if self._batch else self._combined(pairs)

    def advance_watermark(self, watermark: int) -> Iterable[object]:
        """Yield the last values in BATCH, at the end."""
        if self._batch and watermark == MAX_WATERMARK:
            return self._final()
        return ()

    def _combined(self, pairs: Iterator[object]) -> Iterator[object]:
        return self._with_state(pairs) if self.uses_state else super().process(pairs)

    def _with_state(self, pairs: Iterator[Any]) -> Iterator[object]:
        backend, values = self._backend, self._table.current
        first, combine = self._first, self._combine
        changed = self._table.changed
        note = None if changed is None else changed[None].add
        pairs = backend.observed(pairs)
        for backend.key, value in pairs:
            key = backend.key
            current = values.get(key)
            result = values[key] = first(value) if current is None else combine(current, value)
            if note is not None:
                note(key)
            yield result

    def _absorbed(self, pairs: Iterator[object]) -> Iterator[object]:
        deque(self._combined(pairs), maxlen=0)
        return
        yield

    def _final(self) -> Iterator[object]:
        values, cursor = self._table.current, self._cursor
        self._backend.timers.watermark = MAX_WATERMARK
        for value in values.values():
            if value is not None:
                cursor.timestamp = MAX_WATERMARK
                yield value
        values.clear()


class RollingReduceOperator(RollingOperator, UdfOperator):
    """Combines the elements of a key with the user's ``reduce``.

    Args:
        function: the user's ReduceFunction.
        type_info: the type of the stream.
    """

    takes_unmade_rows = True

    def __init__(self, function: UserFunction, type_info: object = None) -> None:
        super().__init__(type_info)
        self._function = function
        self._loaded: Any = None

    def combination(self, context: OperatorContext) -> Combine:
        """Return the user's function, opened."""
        self._loaded = self._function.load()
        self._open_function(self._loaded, context)
        self.uses_state = hasattr(self._loaded, "open")
        reduce: Combine = self._loaded.reduce
        fit = self.fit(self._type_info)
        if fit is None:
            return reduce
        return lambda first, second: fit(reduce(first, second))

    def _write_combination(self, code: LoopCode, current: str) -> None:
        if self._converted:
            super()._write_combination(code, current)
            return
        fit, kind, reduce = self.fit(self._type_info), self._type_info, self._loaded.reduce
        value = code.value
        code.expect_row(current, kind)
        code.add(f"if {current} is None:")
        code.add(f" {current} = {value}")
        items = code.items(value) or code.fields(value, kind)
        write_fit(code, fit, kind, current, " ", items)
        code.add("else:")
        parts = code.call(current, "reduce", reduce, current, value, indent=" ")
        parts = parts or code.fields(current, kind)
        write_fit(code, fit, kind, current, " ", parts, f"{current}[{{}}]")
        code.expect_row(current, kind)

    def close(self) -> None:
        """Close the user's function."""
        if self._loaded is not None:
            self._close_function(self._loaded)


class RollingAggregateOperator(RollingOperator):
    """Sums up a field, or keeps the smallest or largest.

    Args:
        kind: ``sum``, ``min``, ``max``, ``min_by`` or ``max_by``.
        position: of the field: an int, or a field's name.
        type_info: the type of the stream.
    """

    def __init__(self, kind: str, position: int | str, type_info: object = None) -> None:
        super().__init__(type_info)
        self._kind = kind
        self._position = position
        self.name = f"{kind}({position!r})"

    def combination(self, context: OperatorContext) -> Combine:
        """Return a function that chooses the combination at its first call."""
        chosen: Combine | None = None
        # Only a sum can be of another type than the elements.
        summed = field_type(self._type_info, self._position) if self._kind == "sum" else None
        fit = self.fit(summed)

        def choose(first: object, second: object) -> object:
            nonlocal chosen
            if chosen is None:
                chosen = aggregation(self._kind, self._position, second, fit)
            return chosen(first, second)

        return choose

    def _write_combination(self, code: LoopCode, current: str) -> None:
        kinds, position = [], self._position
        if isinstance(self._type_info, TupleTypeInfo) and isinstance(position, int):
            kinds = self._type_info.get_field_types()
        field = next((i for i in range(len(kinds)) if position in (i, i - len(kinds))), None)
        if self._converted or field is None:
            super()._write_combination(code, current)
            return
        value, of_both = code.value, (f"{current}[{field}]", f"{code.value}[{field}]")
        code.add(f"if {current} is None: {current} = {code.bind('first', self._first)}({value})")
        if self._kind in ("min_by", "max_by"):
            sign = "<" if self._kind == "min_by" else ">"
            code.add(f"elif {of_both[1]} {sign} {of_both[0]}: {current} = {value}")
            return
        combined = code.new_value()
        code.add("else:")
        if self._kind == "sum":
            code.add(f" {combined} = {of_both[0]} + {of_both[1]}")
            write_fit(code, self.fit(kinds[field]), kinds[field], combined, " ")
        else:
            code.add(f" {combined} = {self._kind}({', '.join(of_both)})")
        items = [combined if i == field else f"{current}[{i}]" for i in range(len(kinds))]
        code.add(f" {current} = ({', '.join(items)},)")


def write_fit(
    code: LoopCode,
    fit: Coercion | None,
    type_info: object,
    value: str,
    indent: str = "",
    parts: Sequence[str] = (),
    former: str = "",
) -> None:
    """Write the test that a value has the type of the state; the value stays as it is.

    Args:
        code: of the loop.
        fit: the whole test, which raises.
        type_info: the declared type.
        value: the variable.
        indent: before the line.
        parts: the variables with its items, if it is a tuple for sure.
        former: the items of a value that fits, as a format with their place. Those that the
            new value has in the same places are not tested again.
    """
    if fit is not None:
        kept = [part for i, part in enumerate(parts) if code.sources.get(part) == former.format(i)]
        test = stored_test(type_info, value, code.bind, parts, kept, code.facts)
        if test != "True":
            whole = f"{code.bind('fit', fit)}({value})"
            code.add(indent + (whole if test is None else f"if not ({test}): {whole}"))


def _as_it_is(value: object) -> object:
    return value


class BatchKeyedInput(Operator):
    """Holds the elements for a keyed operator until all are there, then gives them key by key.

    At the end of a key its timers fire, those of event time first, and its state is dropped. Until
    then the watermark is the lowest one. An input without keys (a broadcast stream) is not held.

    Args:
        operator: the keyed operator. What it knows of event time is in ``keyed_state.timers``.
    """

    keyed = True

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        self.emits_timestamps = operator.emits_timestamps
        self.emits_pairs = operator.emits_pairs

    def open(self, context: OperatorContext) -> None:
        """Open the operator."""
        self._backend = keyed_state_of(context)
        self._cursor = context.cursor
        self._keys: dict[object, list[Held]] = {}
        self._operator.open(context)

    def inputs(self) -> tuple[Process, ...]:
        """Return the function that collects the elements of each input."""
        unkeyed: tuple[int, ...] = getattr(self._operator, "unkeyed_inputs", ())
        return tuple(
            process if port in unkeyed else self._collector(port)
            for port, process in enumerate(self._operator.inputs())
        )

    def process(self, elements: Iterator[object]) -> Iterator[object]:
        """Collect the elements of the only input."""
        return self._collector(0)(elements)

    def advance_watermark(self, watermark: int) -> Iterable[object]:
        """Yield everything, once all elements are there."""
        return self._all_keys() if watermark == MAX_WATERMARK else ()

    def end_input(self) -> Iterable[object]:
        """Yield the results of all keys, and the operator's own at the end of input."""
        yield from self._all_keys()
        yield from self._operator.end_input()

    def committables(self) -> list[object]:
        """Return the operator's."""
        return self._operator.committables()

    def close(self) -> None:
        """Close the operator."""
        self._operator.close()

    def parts(self) -> Iterable[object]:
        """Return the operator and its parts."""
        return (self._operator, *self._operator.parts())

    def _collector(self, port: int) -> Callable[[Iterator[object]], Iterator[object]]:
        def collect(pairs: Iterator[Any]) -> Iterator[object]:
            keys, cursor = self._keys, self._cursor
            for key, value in pairs:
                timestamp = cursor.timestamp
                order = MIN_TIMESTAMP if timestamp is None else timestamp
                held = keys.get(key)
                if held is None:
                    held = keys[key] = []
                held.append((order, timestamp, port, value))
            return iter(())

        return collect

    def _all_keys(self) -> Iterator[object]:
        heads = self._operator.inputs()
        while self._keys:
            key = next(iter(self._keys))
            held = self._keys.pop(key)
            held.sort(key=itemgetter(0))
            for port, elements in groupby(held, itemgetter(2)):
                yield from heads[port](self._pairs(key, elements))
            yield from self._end_of_key(key)

    def _pairs(self, key: object, elements: Iterable[Held]) -> Iterator[object]:
        cursor = self._cursor
        for _, cursor.timestamp, _, value in elements:
            yield key, value

    def _end_of_key(self, key: object) -> Iterator[object]:
        backend = self._backend
        timers = backend.timers
        while True:
            backend.key = key
            yield from self._operator.advance_watermark(MAX_WATERMARK)
            yield from self._operator.advance_processing_time(MAX_WATERMARK + 1)
            if timers.event.earliest() is None and timers.processing.earliest() is None:
                break
        timers.watermark = MIN_TIMESTAMP
        backend.drop_key(key)
