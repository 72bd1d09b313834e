"""The tables with the entries of states, and the kinds of state that have a declared type.

PyFlink writes a state through its type when a bundle ends, and reads the result back once its cache
has evicted the value. What has another type fails then; what only looks different from what comes
back stays as it is for as long as the cache has it, which depends on how many keys there are. Here
it always stays as it is, unless the cache is turned off, and it fails when it is put in.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from pyflink_on_spark._compat.own_frames import compiled_file
from pyflink_on_spark._runtime.elements.immutability import deserialize, serialize
from pyflink_on_spark._runtime.state.time_to_live import Sweep, TimeToLive, stamps_of
from pyflink_on_spark._runtime.types.codec import ConversionError
from pyflink_on_spark._runtime.types.converters import codec_of, one_by_one
from pyflink_on_spark._runtime.types.fitting import named_in, stored_test
from pyflink_on_spark.common.typeinfo import (
    ListTypeInfo,
    MapTypeInfo,
    PickledBytesTypeInfo,
    TypeInformation,
    key_type_of,
    value_type_of,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
    from pyflink_on_spark._runtime.state.snapshot import Entries

Coercion = Callable[[object], object]
"""Takes a value, returns what is kept of it; raises if it does not have the declared type."""
Place = tuple[Hashable, object]
"""A namespace and a key."""
_FILE = compiled_file("state type")


class StateTable:
    """The entries of one state of one operator.

    ``current`` is the dict of the namespace in use. ``changed`` has the keys of the entries that
    changed since the last checkpoint, by namespace, or is None if changes are not tracked. The dict
    and the changed keys of the namespace None are always the same objects, so that a loop may keep
    references.

    Args:
        kind: as a descriptor's ``_kind``, for example ``value``.
        track: whether to note which entries change.
    """

    __slots__ = ("changed", "current", "kind", "namespace", "namespaces", "stamped")

    def __init__(self, kind: str, track: bool) -> None:
        self.kind = kind
        self.stamped: bool | None = None
        self.current: Entries = {}
        self.namespace: Hashable = None
        self.namespaces: dict[Hashable, Entries] = {None: self.current}
        self.changed: defaultdict[Hashable, set[object]] | None = None
        if track:
            self.changed = defaultdict(set)
            self.changed[None] = set()

    def set_stamped(self, stamped: bool, now: int) -> None:
        """Make the entries what a state with (or without) a time to live expects.

        Args:
            stamped: whether the state has a time to live.
            now: the stamp that entries from before a restart get (ms).
        """
        if self.stamped is not None and self.stamped != stamped:
            stamps = stamps_of(self.kind)
            for namespace, key in self.places():
                entry = self.get(namespace, key)
                converted = stamps.stamped(entry, now) if stamped else stamps.unstamped(entry)
                self.put(namespace, key, converted)
                if self.changed is not None:
                    self.changed[namespace].add(key)
        self.stamped = stamped

    def use(self, namespace: Hashable) -> None:
        """Make a namespace the one in use."""
        if namespace == self.namespace:
            return
        if not self.current and self.namespace is not None:
            del self.namespaces[self.namespace]
        self.namespace = namespace
        self.current = self.namespaces.setdefault(namespace, {})

    def all_entries(self) -> Iterator[tuple[Hashable, dict[object, object]]]:
        """Yield namespaces and entries by key; none of it for changing, and nothing may change."""
        yield from self.namespaces.items()

    def count(self) -> int:
        """Return how many entries there are."""
        return sum(map(len, self.namespaces.values()))

    def size(self) -> int:
        """Return how many entries there are in memory."""
        return self.count()

    def places(self) -> Iterator[Place]:
        """Yield the place of each entry there is now; entries may change meanwhile."""
        for namespace, table in list(self.namespaces.items()):
            for key in list(table):
                yield namespace, key

    def entries(self) -> Iterator[tuple[Hashable, object, object]]:
        """Yield namespace, key and value of each entry; entries may change meanwhile.

        A value may be as it was a moment ago.
        """
        for namespace, key in self.places():
            entry = self.get(namespace, key)
            if entry is not None:
                yield namespace, key, entry

    def changes(self) -> Iterator[tuple[Hashable, object, object]]:
        """Yield the entries that changed: namespace, key, and the value; None if it is gone."""
        for namespace, keys in (self.changed or {}).items():
            for key in keys:
                yield namespace, key, self.get(namespace, key)

    def change_count(self) -> int:
        """Return how many entries changed."""
        return sum(map(len, (self.changed or {}).values()))

    def forget_changes(self) -> None:
        """Let ``changes`` yield later changes only."""
        changed = self.changed
        if changed is not None:
            kept = changed[None]
            kept.clear()
            changed.clear()
            changed[None] = kept

    def get(self, namespace: Hashable, key: object) -> object:
        """Return an entry of any namespace, or None."""
        table = self.namespaces.get(namespace)
        return None if table is None else table.get(key)

    def put(self, namespace: Hashable, key: object, value: object) -> None:
        """Set an entry of any namespace; this is not noted as a change."""
        self.namespaces.setdefault(namespace, {})[key] = value

    def put_all(self, namespace: Hashable, entries: dict[object, object]) -> None:
        """Set entries of any namespace; this is not noted as a change."""
        self.namespaces.setdefault(namespace, {}).update(entries)

    def remove(self, namespace: Hashable, key: object) -> None:
        """Remove an entry of any namespace, if it is there; this is not noted as a change."""
        table = self.namespaces.get(namespace)
        if table is None:
            return
        table.pop(key, None)
        if not table and namespace != self.namespace and namespace is not None:
            del self.namespaces[namespace]

    def drop_key(self, key: object) -> None:
        """Remove a key's entries in all namespaces."""
        for namespace in [space for space, table in self.namespaces.items() if key in table]:
            self.remove(namespace, key)
            if self.changed is not None:
                self.changed[namespace].add(key)


class NoKeyYetError(RuntimeError):
    """State is used in ``open()``, where there is no key."""


class KeyedState:
    """A state of the current key, in the namespace that is in use.

    Args:
        backend: knows the current key.
        table: where the entries are.
    """

    __slots__ = ("_backend", "_fit", "_table")

    kind: ClassVar[str]
    """The name in checkpoints and in the descriptors of the kind."""

    def __init__(self, backend: KeyedStateBackend, table: StateTable) -> None:
        self._backend = backend
        self._table = table
        self._fit: Coercion | None = None

    @classmethod
    def arguments(cls, descriptor: object) -> tuple[object, ...]:
        """Return the constructor's arguments from a descriptor, besides backend and table."""
        return ()

    def declare(self, name: str, type_info: TypeInformation, converted: bool) -> None:
        """Declare the type of values; without a declaration a value may have any type."""
        self._fit = coercion(name, type_info, converted)

    def set_current_namespace(self, namespace: Hashable) -> None:
        """Say in which namespace (a window, say) the state is used from now on."""
        self._table.use(namespace)

    def clear(self) -> None:
        """Remove the current key's entry."""
        table = self._table
        key = self._backend.key
        if key in table.current:
            del table.current[key]
            if table.changed is not None:
                table.changed[table.namespace].add(key)

    def put_whole(self, value: object) -> None:
        """Set the current key's entry to a value as tools show and take it."""
        self._store(value if self._fit is None else self._fit(value))

    def _keep(self, value: object) -> None:
        """Set the current key's entry to a value of the declared type; None removes the entry."""
        if self._fit is not None:
            value = self._fit(value)
        if value is None:
            self.clear()
        else:
            self._store(value)

    def _load(self) -> Any:
        """Return the current key's entry, or None."""
        return self._table.current.get(self._backend.key)

    def _store(self, entry: object) -> None:
        """Set the current key's entry."""
        table = self._table
        key = self._backend.key
        table.current[key] = entry
        if table.changed is not None:
            table.changed[table.namespace].add(key)


class MergingState(KeyedState):
    """A state whose entries in several namespaces can be made into one."""

    __slots__ = ()

    def merge_namespaces(self, target: Hashable, sources: Iterable[Hashable]) -> None:
        """Add the current key's entries of some namespaces to that of another one.

        Args:
            target: the namespace that gets everything; it is in use afterwards.
            sources: the namespaces whose entries are removed.
        """
        found = []
        for source in sources:
            self._table.use(source)
            entry = self._load()
            if entry is not None:
                found.append(entry)
                self.clear()
        self._table.use(target)
        merged = self._load()
        for entry in found:
            merged = entry if merged is None else self._merged(merged, entry)
        if found:
            self._store(merged)

    def _merged(self, first: Any, second: Any) -> object:
        """Return one entry for two."""
        raise NotImplementedError


class ValueState(KeyedState):
    """The single value of the current key; None when there is none."""

    __slots__ = ("_high", "_low")
    kind = "value"

    def __init__(self, backend: KeyedStateBackend, table: StateTable) -> None:
        super().__init__(backend, table)
        self._low, self._high = fitting_ints(None)

    def declare(self, name: str, type_info: TypeInformation, converted: bool) -> None:
        """Say of which type the value has to be."""
        super().declare(name, type_info, converted)
        self._low, self._high = fitting_ints(type_info)

    def value(self) -> object:
        """Return the value, or None."""
        return self._table.current.get(self._backend.key)

    def update(self, value: object) -> None:
        """Set the value; None removes an untyped one, and has no declared type."""
        if type(value) is not int or not self._low <= value <= self._high:
            if self._fit is not None:
                value = self._fit(value)
            if value is None:
                self.clear()
                return
        table = self._table
        key = self._backend.key
        table.current[key] = value
        if table.changed is not None:
            table.changed[table.namespace].add(key)

    def put_whole(self, value: object) -> None:
        """Replace the content of the current key."""
        self.update(value)


class Elements:
    """The elements of a list state: an iterable without other methods.

    Args:
        elements: a list.
    """

    __slots__ = ("_elements",)

    def __init__(self, elements: Iterable[object]) -> None:
        self._elements = elements

    def __iter__(self) -> Iterator[object]:
        """Iterate over the elements."""
        return iter(self._elements)


class ListState(MergingState):
    """The list of the current key."""

    __slots__ = ()
    kind = "list"

    def get(self) -> Iterable[object]:
        """Return the elements; nothing to iterate over when there are none."""
        return Elements(self._table.current.get(self._backend.key, ()))

    def add(self, value: object) -> None:
        """Append an element."""
        if self._fit is not None:
            value = self._fit(value)
        table = self._table
        key = self._backend.key
        elements = table.current.get(key)
        if elements is None:
            table.current[key] = [value]
        else:
            elements.append(value)
        if table.changed is not None:
            table.changed[table.namespace].add(key)

    def add_all(self, values: Iterable[object]) -> None:
        """Append elements."""
        self._append(self._fitting(values))

    def update(self, values: Iterable[object]) -> None:
        """Replace the list."""
        elements = self._fitting(values)
        self.clear()
        self._append(elements)

    def put_whole(self, value: Any) -> None:
        """Replace the content of the current key."""
        self.update(value)

    def __iter__(self) -> Iterator[object]:
        """Iterate over the elements."""
        return iter(self.get())

    def declare(self, name: str, type_info: TypeInformation, converted: bool) -> None:
        """Say of which type the list has to be."""
        self._fit = element_coercion(name, type_info, converted)

    def _fitting(self, values: Iterable[object]) -> list[object]:
        fit = self._fit
        return list(values) if fit is None else [fit(value) for value in values]

    def _append(self, elements: list[object]) -> None:
        if elements:
            known = self._load()
            if known is None:
                self._store(elements)
            else:
                known += elements
                self._store(known)

    def _merged(self, first: list[object], second: list[object]) -> list[object]:
        return first + second


class ReducingState(MergingState):
    """Reduces added values to one value of the current key.

    Args:
        backend: knows the current key.
        table: where the values are.
        function: has ``reduce``.
    """

    __slots__ = ("_reduce",)
    kind = "reducing"

    def __init__(self, backend: KeyedStateBackend, table: StateTable, function: Any) -> None:
        super().__init__(backend, table)
        self._reduce = function.reduce

    @classmethod
    def arguments(cls, descriptor: Any) -> tuple[object, ...]:
        """Return the function."""
        return (descriptor.get_reduce_function(),)

    def get(self) -> object:
        """Return the value, or None."""
        return self._load()

    def add(self, value: object) -> None:
        """Reduce the value and another one to the new value."""
        current = self._load()
        self._keep(value if current is None else self._reduce(current, value))

    def _merged(self, first: object, second: object) -> object:
        return self._reduce(first, second)


class AggregatingState(MergingState):
    """Aggregates added values in the current key's accumulator.

    Args:
        backend: knows the current key.
        table: where the accumulators are.
        function: has ``create_accumulator``, ``add``, ``get_result`` and ``merge``.
    """

    __slots__ = ("_function",)
    kind = "aggregating"

    def __init__(self, backend: KeyedStateBackend, table: StateTable, function: Any) -> None:
        super().__init__(backend, table)
        self._function = function

    @classmethod
    def arguments(cls, descriptor: Any) -> tuple[object, ...]:
        """Return the function."""
        return (descriptor.get_agg_function(),)

    def get(self) -> Any:
        """Return the result for the accumulator; None if nothing was added."""
        accumulator = self._load()
        return None if accumulator is None else self._function.get_result(accumulator)

    def add(self, value: object) -> None:
        """Add a value; None clears the state."""
        if value is None:
            self.clear()
            return
        accumulator = self._load()
        if accumulator is None:
            accumulator = self._function.create_accumulator()
        self._keep(self._function.add(value, accumulator))

    def _merged(self, first: object, second: object) -> object:
        return self._function.merge(first, second)


class FoldingState(KeyedState):
    """Folds added values into the current key's value.

    Args:
        backend: knows the current key.
        table: where the values are.
        function: has ``fold``.
        initial: what each key begins with a copy of.
    """

    __slots__ = ("_fold", "_initial")
    kind = "folding"

    def __init__(
        self, backend: KeyedStateBackend, table: StateTable, function: Any, initial: object
    ) -> None:
        super().__init__(backend, table)
        self._fold = function.fold
        self._initial = serialize(initial)

    @classmethod
    def arguments(cls, descriptor: Any) -> tuple[object, ...]:
        """Return the function and the initial value."""
        return descriptor.get_fold_function(), descriptor.get_initial_value()

    def get(self) -> object:
        """Return the value; None if nothing was added."""
        return self._load()

    def add(self, value: object) -> None:
        """Fold one more value in."""
        current = self._load()
        if current is None:
            current = deserialize(self._initial)
        folded = self._fold(current, value)
        if folded is None:
            self.clear()
        else:
            self._store(folded)


def coercion(
    name: str, type_info: object, converted: bool, what: str = "was put into"
) -> Coercion | None:
    """Return the coercion for the values of a state, or None if there is none.

    Of lists and maps the last element is looked at only: those before were when they came.

    Args:
        name: the state's.
        type_info: the declared type of its values.
        converted: whether values are kept as they come back from PyFlink's state backend.
        what: how a value and the state are related, for the error.
    """
    if type_info is None or isinstance(type_info, PickledBytesTypeInfo):
        return None
    # A state has no null, also where a stream of the type has.
    codec = replace(codec_of(type_info), nullable=False)
    convert = _explained(f"It {what} the state {name!r}.", one_by_one(codec))
    if converted:
        return convert
    return _compiled(type_info, convert)


def _compiled(type_info: object, convert: Coercion) -> Coercion:
    """Compile the quick test of a type; what the test is not sure of goes to the conversion."""
    names: dict[str, Any] = {"convert": convert}
    test = stored_test(type_info, "value", named_in(names)) or "False"
    source = f"def fit(value):\n if not ({test}): convert(value)\n return value"
    exec(compile(source, _FILE, "exec"), names)  # noqa: S102 - the text is of this package
    fit: Coercion = names["fit"]
    return fit


def fitting_ints(type_info: TypeInformation | None) -> tuple[int, int]:
    """Return the least and the greatest int that a state surely keeps as it is.

    If the first is greater, it keeps no int so. This spares the most frequent values a call of what
    ``coercion`` returns.
    """
    if type_info is None or isinstance(type_info, PickledBytesTypeInfo):
        return -(1 << 63), (1 << 63) - 1
    return codec_of(type_info).ints


def element_coercion(name: str, type_info: TypeInformation, converted: bool) -> Coercion | None:
    """Return the same for the elements of a list state."""
    element = type_info.elem_type if isinstance(type_info, ListTypeInfo) else None
    return coercion(name, element, converted)


def entry_coercions(
    name: str, type_info: TypeInformation | None, converted: bool
) -> tuple[Coercion | None, Coercion | None]:
    """Return the same for the keys and for the values of a map state; a value may be None."""
    if not isinstance(type_info, MapTypeInfo):
        return None, None
    return (
        coercion(name, key_type_of(type_info), converted, "is a key of"),
        _or_none(coercion(name, value_type_of(type_info), converted)),
    )


def _or_none(fit: Coercion | None) -> Coercion | None:
    return None if fit is None else lambda value: None if value is None else fit(value)


def _explained(note: str, convert: Coercion) -> Coercion:
    def explained(value: object) -> object:
        try:
            return convert(value)
        except ConversionError as error:
            error.add_note(note)
            raise

    return explained


_MOST_AT_ONCE = 1_000
_FEW = 100
"""A small table is checked as often as one with so many entries more."""
_ROUNDS = 2
"""How often each entry is checked in the time that it lives."""

note_nothing: Callable[[object], object] = ().count
"""Takes a key and does nothing, in C."""


class KeyedRows:
    """The entries of one state, by key.

    Loops over rows take ``current``, a dict, and ``note`` into locals; both stay the same. An entry
    of ``current`` that is set, removed, or changed in place has to be noted: ``note(key)``. That is
    all that a checkpoint of changes needs, and a time to live.

    Rows of windows are in a namespace for each window, with entries of its own.

    Entries of the kind ``value`` expire as a whole, and ``current`` hides that they are stamped. In
    lists and maps each element and value has a stamp of its own, which the operator sees: a pair of
    the time (ms) and what was stored.

    Args:
        table: where the entries are.
        time_to_live: None if they are kept without limit.
    """

    __slots__ = ("_checked", "_credit", "_sweep", "_table", "current", "note", "time_to_live")

    def __init__(self, table: StateTable, time_to_live: TimeToLive | None) -> None:
        self._table, self.time_to_live = table, time_to_live
        changed = table.changed
        note = note_nothing if changed is None else changed[None].add
        self.current: Any = table.current
        self.note: Callable[[object], object] = note
        if time_to_live is None:
            return
        stamps = stamps_of(table.kind)
        self._sweep = Sweep(table, lambda entry: stamps.left(entry, time_to_live.latest_expired()))
        self._checked, self._credit = time_to_live.now(), 0.0
        if table.kind == "value":
            self.current = entries = _StampedEntries(table.current, time_to_live, note)
            self.note = entries.note

    def namespace(self, name: Hashable) -> tuple[Any, Callable[[object], object]]:
        """Return ``current`` and ``note`` of a namespace, which is made if it is not there."""
        changed = self._table.changed
        note = note_nothing if changed is None else changed[name].add
        return self._table.namespaces.setdefault(name, {}), note

    def namespaces(self) -> Iterator[Any]:
        """Yield the namespaces that have entries."""
        for name, entries in self._table.namespaces.items():
            if name is not None and len(entries):
                yield name

    def note_all(self, name: Hashable) -> None:
        """Note all entries of a namespace."""
        changed = self._table.changed
        if changed is not None:
            changed[name].update(self._table.namespaces[name])

    def remove(self, name: Hashable) -> None:
        """Remove a namespace with its entries."""
        self.note_all(name)
        del self._table.namespaces[name]

    def check_some(self, now: int) -> None:
        """Remove some expired entries; frequent calls remove all in time.

        Args:
            now: the time of the clock (ms).
        """
        life = self.time_to_live
        if life is None or now <= self._checked:
            return
        count = self._table.count()
        self._credit += (count + _FEW) * _ROUNDS * (now - self._checked) / life.duration
        self._checked = now
        due = min(int(self._credit), _MOST_AT_ONCE, count + 1)
        if due:
            self._credit = min(self._credit - due, count + _FEW)
            self._sweep.some(due)


class _StampedEntries:
    """Entries that expire as a whole, used like a dict.

    Args:
        entries: by key, each a pair of its stamp and itself.
        time_to_live: how long they live.
        mark: marks a key as changed.
    """

    __slots__ = ("_duration", "_entries", "_mark", "_now", "_time")

    def __init__(
        self, entries: Any, time_to_live: TimeToLive, mark: Callable[[object], object]
    ) -> None:
        self._entries, self._mark = entries, mark
        self._duration, self._time = time_to_live.duration, time_to_live.now
        self._now = self._time()

    def get(self, key: object, default: object = None) -> object:
        """Return an entry that has not expired."""
        now = self._now = self._time()
        stamped = self._entries.get(key)
        if stamped is None:
            return default
        if stamped[0] <= now - self._duration:
            del self._entries[key]
            self._mark(key)
            return default
        return stamped[1]

    def __setitem__(self, key: object, entry: object) -> None:
        self._entries[key] = self._time(), entry

    def __delitem__(self, key: object) -> None:
        del self._entries[key]

    def pop(self, key: object, default: object = None) -> object:
        """Remove and return an entry that has not expired."""
        entry = self.get(key)
        if entry is None:
            return default
        del self._entries[key]
        return entry

    def note(self, key: object) -> None:
        """Note that an entry changed, which prolongs its life."""
        stamped = self._entries.get(key)
        if stamped is not None and stamped[0] != self._now:
            self._entries[key] = self._now, stamped[1]
        self._mark(key)
