"""The contract of user-function operators; map, filter, selectors; conversions at boundaries."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.own_frames import user_traceback
from pyflink_on_spark._runtime.contract.connector import Sink, SinkWriter
from pyflink_on_spark._runtime.contract.operator import Operator, OperatorContext
from pyflink_on_spark._runtime.elements.bundle import Cursor
from pyflink_on_spark._runtime.elements.immutability import unwrap_key, wrap_key
from pyflink_on_spark._runtime.operators.function_loop import FusableOperator, LoopCode
from pyflink_on_spark._runtime.state.operator_state import OperatorSnapshot
from pyflink_on_spark._runtime.types.converters import (
    StreamConverter,
    boundary_converter,
    collect_converter,
    key_converter,
    print_text,
)
from pyflink_on_spark._runtime.types.fitting import (
    plain_key_test,
    unchanged_fields_test,
    unchanged_test,
)
from pyflink_on_spark._runtime.user_code import (
    FunctionCheckpoints,
    UserFunction,
    close_function,
    describe,
    open_function,
)
from pyflink_on_spark.common.typeinfo import RowTypeInfo, TupleTypeInfo, TypeInformation
from pyflink_on_spark.common.types import Row

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.state.backend import KeyedStateBackend


_log = logging.getLogger(__name__)
KEYS_KEPT = 100_000
_VALUE = itemgetter(1)
WRITER = "_writer"
"""The name of the state with the snapshots of writers."""


class UdfOperator(Operator):
    """The base of operators with a user function, which may take part in checkpoints."""

    _checkpoints: FunctionCheckpoints | None = None
    _opened: bool = False
    _task: str = ""

    def snapshot_state(self, checkpoint_id: int) -> None:
        """Have the function save its state."""
        if self._checkpoints is not None:
            self._checkpoints.snapshot(checkpoint_id)

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Notify the function that a checkpoint is complete."""
        if self._checkpoints is not None:
            self._checkpoints.complete(checkpoint_id)

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """Notify the function that a checkpoint was aborted."""
        if self._checkpoints is not None:
            self._checkpoints.aborted(checkpoint_id)

    def _open_function(self, function: object, context: OperatorContext) -> None:
        """Give a function its state, then open it."""
        if not context.opens_functions:
            return
        self._task = context.task.task_name_with_subtasks
        checkpoints = FunctionCheckpoints(function, context)
        checkpoints.initialize()
        open_function(function, context.runtime_context)
        self._checkpoints, self._opened = checkpoints, True

    def _close_function(self, function: object) -> None:
        """Close a function; as in PyFlink no job fails because that fails."""
        try:
            close_function(function)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - others have to be closed as well
            if self._opened:
                _log.error(
                    "close() of %s failed in the task %r; the job continues, as in PyFlink:\n%s",
                    describe(function),
                    self._task,
                    user_traceback(error).rstrip(),
                )


class RichFunctionOperator(UdfOperator):
    """Loads a function object, opens it, and closes it in the end.

    Args:
        function: the user's.
    """

    methods: tuple[str, ...] = ()
    """The methods of the function that the operator calls for elements and timers."""

    def __init__(self, function: UserFunction) -> None:
        self._function = function
        self._loaded: Any = None

    def open(self, context: OperatorContext) -> None:
        """Load and open the function."""
        self._context = context
        self._cursor = context.cursor
        self._loaded = self._function.load()
        self._open_function(self._loaded, context)

    def close(self) -> None:
        """Close the function."""
        if self._loaded is not None:
            self._close_function(self._loaded)


class KeyedFunctionOperator(RichFunctionOperator):
    """A function object on a keyed stream."""

    keyed = True

    def open(self, context: OperatorContext) -> None:
        """Load and open the function."""
        self._backend = keyed_state_of(context)
        super().open(context)


def keyed_state_of(context: OperatorContext) -> KeyedStateBackend:
    """Return the keyed state that an operator on a keyed stream has."""
    if context.keyed_state is None:
        raise ValueError(f"{context.task.task_name}: there is no keyed state")
    return context.keyed_state


class KeyedMapOperator(KeyedFunctionOperator):
    """Calls ``map`` for each element."""

    methods = ("map",)

    def process(self, pairs: Iterator[Any]) -> Iterator[Any]:
        """Yield the result for each element."""
        backend, call = self._backend, self._loaded.map
        pairs = backend.observed(pairs)
        for backend.key, value in pairs:
            yield call(value)


class KeyedFlatMapOperator(KeyedFunctionOperator):
    """Calls ``flat_map`` for each element."""

    methods = ("flat_map",)

    def process(self, pairs: Iterator[Any]) -> Iterator[Any]:
        """Yield the results for each element."""
        backend, call = self._backend, self._loaded.flat_map
        pairs = backend.observed(pairs)
        for backend.key, value in pairs:
            yield from call(value)


class KeyedFilterOperator(KeyedFunctionOperator):
    """Calls ``filter`` for each element."""

    methods = ("filter",)

    def process(self, pairs: Iterator[Any]) -> Iterator[object]:
        """Yield the elements that pass."""
        backend, passes = self._backend, self._loaded.filter
        pairs = backend.observed(pairs)
        for backend.key, value in pairs:
            if passes(value):
                yield value


class FunctionOperator(UdfOperator):
    """An operator around one user function.

    Args:
        function: its object has the method that ``method`` names.
    """

    method: str = ""

    def __init__(self, function: UserFunction) -> None:
        self.function = function
        self._loaded: object = None

    def open(self, context: OperatorContext) -> None:
        """Load and open the user's function."""
        self._loaded = self.function.load()
        self._open_function(self._loaded, context)
        self.call: Any = getattr(self._loaded, self.method)

    def close(self) -> None:
        """Close the user's function."""
        if self._loaded is not None:
            self._close_function(self._loaded)


class MapOperator(FunctionOperator, FusableOperator):
    """One element for each."""

    method = "map"
    takes_unmade_rows = True

    def write_lines(self, code: LoopCode) -> None:
        """Replace the element by the function's result."""
        code.assign_call("map", self.call)


class FlatMapOperator(FunctionOperator, FusableOperator):
    """Any number of elements for each."""

    method = "flat_map"
    nests = True

    def write_lines(self, code: LoopCode) -> None:
        """Go through the function's results."""
        code.repeat(f"{code.bind('flat_map', self.call)}({code.value})")


class FilterOperator(FunctionOperator, FusableOperator):
    """Those elements for which the function is true."""

    method = "filter"
    takes_unmade_rows = True

    def write_lines(self, code: LoopCode) -> None:
        """Leave the element out unless the function is true."""
        code.leave_out_unless("filter", self.call)


class ProjectOperator(Operator):
    """Some fields of each tuple, as a tuple.

    Args:
        positions: which fields, in their new order.
    """

    def __init__(self, positions: tuple[int, ...]) -> None:
        self._positions = positions

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the shorter tuples."""
        positions = self._positions
        return (tuple([value[position] for position in positions]) for value in elements)


class TextOperator(Operator):
    """Makes the text of each element that ``print`` shows.

    Args:
        type_info: the declared type of the stream.
    """

    def __init__(self, type_info: object) -> None:
        self._type_info = type_info

    def open(self, context: OperatorContext) -> None:
        """Compile the rendering."""
        self._text = print_text(self._type_info)

    def process(self, elements: Iterator[object]) -> Iterator[object]:
        """Yield the texts."""
        text = self._text
        for value in elements:
            yield text(value)


class _ConvertedKeys(dict[object, object]):
    """A cache of plain keys in the engine's form, converted to their declared type.

    Args:
        convert: makes a key what its declared type says.
    """

    def __init__(self, convert: Callable[[object], object]) -> None:
        super().__init__()
        self._convert = convert

    def __missing__(self, found: object) -> object:
        if len(self) >= KEYS_KEPT:
            self.clear()
        key = self[found] = self.convert(found)
        return key

    def convert(self, found: object) -> object:
        """Return the engine's form of a key of any type."""
        return wrap_key(self._convert(found))


class SelectKeyOperator(FunctionOperator, FusableOperator):
    """Makes of each element a pair of its key and itself.

    Args:
        function: the user's KeySelector.
        key_type: the declared type of the keys, or None.
        selects: what is selected, if that is known without a look into code.
    """

    method = "get_key"
    emits_pairs = True
    preserves_elements = True
    takes_unmade_rows = True

    def __init__(
        self, function: UserFunction, key_type: object = None, selects: str | None = None
    ) -> None:
        super().__init__(function)
        self.key_type, self.selects = key_type, selects

    def open(self, context: OperatorContext) -> None:
        """Load the user's selector, compile the key's conversion."""
        super().open(context)
        convert = None if self.key_type is None else key_converter(self.key_type)
        self._converted = None if convert is None else _ConvertedKeys(convert)

    def write_lines(self, code: LoopCode) -> None:
        """Find the element's key."""
        key = code.new_value()
        code.call(key, "get_key", self.call, code.element)
        code.learn_result(key)
        if self._converted is None:
            if not code.is_plain_key(key):
                code.add(f"if type({key}) not in PLAIN_KEY_TYPES: {key} = wrap_key({key})")
        else:
            keys = code.bind("keys", self._converted)
            plain, other = f"{keys}[{key}]", f"{keys}.convert({key})"
            convert = f"{key} = {plain} if type({key}) in PLAIN_KEY_TYPES else {other}"
            fits = partial(plain_key_test, self.key_type, facts=code.facts)
            test = code.note_test(key, fits)
            if test != "True":
                code.add(convert if test is None else f"if not ({test}): {convert}")
            code.learn_type(None if test is None else self.key_type, key)
        code.key = key


class DropKeyOperator(Operator):
    """Makes of each pair of key and element the element again."""

    keyed = True
    preserves_elements = True
    sorted_in_batch = False

    def process(self, elements: Iterator[Any]) -> Iterator[object]:
        """Yield the elements."""
        return map(_VALUE, elements)


class KeyedRowsOperator(Operator):
    """Makes of each pair of key and element a row of both."""

    def process(self, elements: Iterator[object]) -> Iterator[object]:
        """Yield the rows."""
        return keyed_rows(elements)


def keyed_rows(pairs: Iterator[Any]) -> Iterator[Row]:
    """Yield a row of the user's key and the element for each pair."""
    return (Row(f0=unwrap_key(key), f1=value) for key, value in pairs)


class PartitionOperator(SelectKeyOperator):
    """Makes of each element a pair of the index of the subtask that gets it, and itself.

    Args:
        partitioner: the user's Partitioner.
        selector: the user's KeySelector, which finds what the partitioner gets.
        receivers: how many subtasks there are. The job's graph knows, and says so with ``among``.
    """

    fusable = False

    def __init__(
        self, partitioner: UserFunction, selector: UserFunction, receivers: int = 1
    ) -> None:
        super().__init__(selector)
        self._partitioner, self._receivers = partitioner, receivers
        self._loaded_partitioner: Any = None

    def among(self, receivers: int) -> PartitionOperator:
        """Return the same for some number of receiving subtasks."""
        return PartitionOperator(self._partitioner, self.function, receivers)

    def open(self, context: OperatorContext) -> None:
        """Load and open both functions."""
        self._loaded_partitioner = self._partitioner.load()
        self._open_function(self._loaded_partitioner, context)
        super().open(context)

    def process(self, elements: Iterator[object]) -> Iterator[object]:
        """Yield the pairs."""
        select, partition = self.call, self._loaded_partitioner.partition
        count = self._receivers
        for value in elements:
            key = select(value)
            index = partition(key, count)
            if type(index) is not int or not 0 <= index < count:
                raise ValueError(
                    f"the partitioner returned {index!r} for the key {key!r}; "
                    f"expected an int from 0 to {count - 1}"
                )
            yield index, value

    def close(self) -> None:
        """Close both functions."""
        if self._loaded_partitioner is not None:
            self._close_function(self._loaded_partitioner)
        super().close()


class ConvertOperator(FusableOperator):
    """Makes elements what their declared type says.

    Args:
        type_info: the declared type.
        pairs: whether elements are pairs of key and value; the value is converted.
        collected: whether they go to the driver's program, and not to another function.
        timestamped: whether they have timestamps; without, they are not looked after.
    """

    takes_unmade_rows = True

    def __init__(
        self,
        type_info: TypeInformation | None,
        pairs: bool = False,
        collected: bool = False,
        timestamped: bool = True,
    ) -> None:
        self._type_info = type_info
        self.emits_pairs = self.takes_pairs = pairs
        self._collected = collected
        self._timestamped = timestamped
        self._convert: StreamConverter | None = None

    def open(self, context: OperatorContext) -> None:
        """Compile the conversion."""
        make = collect_converter if self._collected else boundary_converter
        self._convert = make(self._type_info)
        self._cursor = context.cursor

    @property
    def fusable(self) -> bool:
        """True for a type whose values can be tested in line."""
        if self._convert is None or self._convert.changes_results:
            return False
        if isinstance(self._type_info, RowTypeInfo):
            return _fields_test(self._type_info) is not None
        return unchanged_test(self._type_info, "value") is not None

    def write_lines(self, code: LoopCode) -> None:
        """Convert a value unless it has its declared form."""
        assert self._convert is not None
        convert = code.bind("convert", self._convert.one)
        if isinstance(self._type_info, RowTypeInfo):
            _write_row(code, self._type_info, convert)
            return
        value = code.value
        kind, items = self._type_info, code.items(value)
        if not isinstance(kind, TupleTypeInfo) or len(items) != len(kind.get_field_types()):
            items = code.parts[value] = []
        test = unchanged_test(kind, value, items, code.facts)
        code.replace_unless(test or "False", f"{convert}({value})")
        code.learn_type(kind, code.value)

    def process(self, elements: Iterator[object]) -> Iterator[object]:
        """Yield the converted elements."""
        if self._convert is None:
            return elements
        if self.fusable:
            return super().process(elements)
        if self.emits_pairs:
            return _in_pairs(self._convert, elements, self._cursor)
        if not self._timestamped:
            return self._convert(elements)
        return _with_timestamps(self._convert, elements, self._cursor)

    def parts(self) -> Iterable[object]:
        """Return the conversion of a stream, and the conversion of a value."""
        return () if self._convert is None else (self._convert, self._convert.codec)


class CopyMutableOperator(FusableOperator):
    """Makes sure that an element does not change any more: yields it as it is now.

    Args:
        pairs: whether elements are pairs of key and value.
    """

    takes_unmade_rows = True

    def __init__(self, pairs: bool = False) -> None:
        self.emits_pairs = self.takes_pairs = pairs

    def write_lines(self, code: LoopCode) -> None:
        """Copy an element unless nothing can change inside it."""
        code.isolate()


class IdentityOperator(Operator):
    """Changes nothing; stands where PyFlink has an operator of its own."""

    preserves_elements = True

    def process(self, elements: Iterator[object]) -> Iterator[object]:
        """Return the elements."""
        return elements


def _fields(type_info: RowTypeInfo) -> list[str]:
    return [f"field{index}" for index in range(len(type_info.get_field_types()))]


def _fields_test(type_info: RowTypeInfo) -> str | None:
    return unchanged_fields_test(type_info, _fields(type_info))


def _write_row(code: LoopCode, type_info: RowTypeInfo, convert: str) -> None:
    """Write what makes a row of the declared type; nobody else can change it."""
    unmade = code.unmade_row
    if unmade is not None and unmade.names == tuple(type_info.get_field_names()):
        _fit_fields(code, type_info, unmade.values, convert)
        return
    value, row, fields = code.value, code.new_value(), ", ".join(_fields(type_info))
    kind, new = code.bind("Row", Row), code.bind("new", Row.__new__)
    names = code.names_of(type_info.get_field_names())
    alike = f"({value}._names is None or {value}._names == {names})"
    count = f"len({value}._values) == {len(type_info.get_field_types())}"
    code.add(f"{row} = None")
    code.add(f"if type({value}) is {kind} and {alike} and {count}:")
    code.add(f" {fields}, = {value}._values")
    code.add(f" if {_fields_test(type_info)}:")
    code.add(f"  {row} = {new}({kind})")
    code.add(f"  {row}._names, {row}._values = {names}, [{fields}]")
    code.add(f"  {row}._row_kind = {value}._row_kind")
    code.add(f"if {row} is None: {row} = {convert}({value})")
    code.value = row
    code.expect_row(row, type_info)


def _fit_fields(
    code: LoopCode, type_info: RowTypeInfo, values: Sequence[str], convert: str
) -> None:
    """Write what converts the fields of a row that is not made yet."""
    doubtful: dict[str, str] = {}
    for kind, variable in zip(type_info.get_field_types(), values, strict=True):
        value = code.constants.get(variable, variable)
        test = "True" if value == "None" else unchanged_test(kind, value, facts=code.facts)
        if test != "True":
            doubtful[variable] = f"({variable} is None or {test or 'False'})"
    if doubtful:
        code.replace_fields_unless(" and ".join(doubtful.values()), convert, doubtful)


def _with_timestamps(
    convert: StreamConverter, elements: Iterator[object], cursor: Cursor
) -> Iterator[object]:
    """Convert elements; a conversion reads ahead, so each gets its own timestamp back."""
    timestamps: deque[int | None] = deque()
    next_timestamp = timestamps.popleft
    for value in convert(_noting(elements, cursor, timestamps.append)):
        cursor.timestamp = next_timestamp()
        yield value


def _noting(
    elements: Iterator[object], cursor: Cursor, note: Callable[[int | None], None]
) -> Iterator[object]:
    for value in elements:
        timestamp = cursor.timestamp
        note(timestamp)
        yield value
        cursor.timestamp = timestamp


def _in_pairs(
    convert: StreamConverter, pairs: Iterator[object], cursor: Cursor
) -> Iterator[object]:
    keys: deque[tuple[object, int | None]] = deque()
    for value in convert(_values(pairs, cursor, keys.append)):
        key, cursor.timestamp = keys.popleft()
        yield key, value


def _values(
    pairs: Iterator[Any], cursor: Cursor, note: Callable[[tuple[object, int | None]], None]
) -> Iterator[object]:
    for key, value in pairs:
        timestamp = cursor.timestamp
        note((key, timestamp))
        yield value
        cursor.timestamp = timestamp


def writer_snapshots(states: Iterable[OperatorSnapshot]) -> list[object]:
    """Return the writers' snapshots among the operator snapshots of a checkpoint."""
    return [thing for state in states for thing in state.split.get(WRITER, ())]


class SinkOperator(Operator):
    """Hands its elements to one subtask's writer of a sink.

    Args:
        sink: the sink.
        sink_id: its number in the job, by which the driver knows what to commit where.
    """

    def __init__(self, sink: Sink, sink_id: int) -> None:
        self._sink = sink
        self.sink_id = sink_id
        self._writer: SinkWriter | None = None
        self._prepared: list[object] = []

    def place(self, job: str, operator: str) -> Sink:
        """Place the sink in its job; for the arguments see ``Sink.in_place``."""
        self._sink = self._sink.in_place(job, operator)
        return self._sink

    def open(self, context: OperatorContext) -> None:
        """Make the writer."""
        self._writer = self._sink.writer(context)
        self._in_progress = context.operator_state.list_state(WRITER)
        self._writer.restore(self._in_progress.get())

    def process(self, elements: Iterator[object]) -> Iterator[object]:
        """Write everything; nothing comes out."""
        assert self._writer is not None
        self._writer.write(elements)
        return iter(())

    def advance_watermark(self, watermark: int) -> Iterable[object]:
        """Advance the watermark of the writer."""
        assert self._writer is not None
        self._writer.advance_watermark(watermark)
        return ()

    def advance_processing_time(self, now: int) -> Iterable[object]:
        """Advance the processing time of the writer."""
        assert self._writer is not None
        self._writer.advance_processing_time(now)
        return ()

    def next_processing_time(self) -> int | None:
        """Return when (ms) the writer needs the clock next, or None."""
        assert self._writer is not None
        return self._writer.next_processing_time()

    def end_input(self) -> Iterable[object]:
        """Prepare the last committables."""
        assert self._writer is not None
        self._prepared += self._writer.prepare_commit()
        return ()

    def snapshot_state(self, checkpoint_id: int) -> None:
        """Prepare the committables of the checkpoint, and save the state of the writer."""
        assert self._writer is not None
        self._prepared += self._writer.prepare_checkpoint(checkpoint_id)
        self._in_progress.update(self._writer.snapshot())

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Notify the writer of a complete checkpoint."""
        assert self._writer is not None
        self._writer.notify_checkpoint_complete(checkpoint_id)

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """Notify the writer of an aborted checkpoint."""
        assert self._writer is not None
        self._writer.notify_checkpoint_aborted(checkpoint_id)

    def committables(self) -> list[object]:
        """Return the committables for the driver: pairs of the sink's number and a committable."""
        prepared, self._prepared = self._prepared, []
        return [(self.sink_id, committable) for committable in prepared]

    def close(self) -> None:
        """Close the writer."""
        if self._writer is not None:
            self._writer.close()

    def parts(self) -> Iterable[object]:
        """Return the writer."""
        return () if self._writer is None else (self._writer,)
