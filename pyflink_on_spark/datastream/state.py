"""State: the kinds there are, their descriptors, and how long they live."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any, ClassVar, Generic, TypeVar

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.common.time import Duration, Time
from pyflink_on_spark.common.typeinfo import TypeInformation, Types

__all__ = [
    "ValueStateDescriptor",
    "ValueState",
    "ListStateDescriptor",
    "ListState",
    "MapStateDescriptor",
    "MapState",
    "ReducingStateDescriptor",
    "ReducingState",
    "AggregatingStateDescriptor",
    "AggregatingState",
    "ReadOnlyBroadcastState",
    "BroadcastState",
    "StateTtlConfig",
    "OperatorStateStore",
]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")
IN = TypeVar("IN")
OUT = TypeVar("OUT")


class OperatorStateStore(ABC):
    """Gives access to state that belongs to no key."""

    @abstractmethod
    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState:
        """Return a map that every parallel instance has a copy of.

        Args:
            state_descriptor: its name and types.
        """


class State(ABC):
    """The root of all kinds of state; keyed state is always that of the current key."""

    @abstractmethod
    def clear(self) -> None:
        """Remove the current key's content."""


class ValueState(State, Generic[T]):
    """Holds one value."""

    @abstractmethod
    def value(self) -> T:
        """Return the value; None when there is none."""

    @abstractmethod
    def update(self, value: T) -> None:
        """Replace the value; None removes it."""


class AppendingState(State, Generic[IN, OUT]):
    """Holds what becomes of all that is added."""

    @abstractmethod
    def get(self) -> OUT:
        """Return the result of the aggregation."""

    @abstractmethod
    def add(self, value: IN) -> None:
        """Add one more value."""


class MergingState(AppendingState[IN, OUT]):
    """An appending state, two of which can be made one."""


class ReducingState(MergingState[T, T]):
    """Holds one value that all added values are reduced to; ``get()`` is None at first."""


class AggregatingState(MergingState[IN, OUT]):
    """Holds an accumulator of all that is added; ``get()`` is its result, None at first."""


class ListState(MergingState[T, Iterable[T]]):
    """Holds a list; ``get()`` is an iterable of its elements, empty at first."""

    @abstractmethod
    def update(self, values: list[T]) -> None:
        """Replace the whole list."""

    @abstractmethod
    def add_all(self, values: list[T]) -> None:
        """Add several values at the end."""

    def __iter__(self) -> Iterator[T]:
        return iter(self.get())


class _ReadableMap(State, Generic[K, V]):
    """Has the entries of a map."""

    @abstractmethod
    def get(self, key: K) -> V:
        """Return the value of a key; None when there is none."""

    @abstractmethod
    def contains(self, key: K) -> bool:
        """True if the key has a value."""

    @abstractmethod
    def items(self) -> Iterable[tuple[K, V]]:
        """Return the pairs of key and value."""

    @abstractmethod
    def keys(self) -> Iterable[K]:
        """Return the keys."""

    @abstractmethod
    def values(self) -> Iterable[V]:
        """Return the values."""

    @abstractmethod
    def is_empty(self) -> bool:
        """True if the map has no entry."""

    def __getitem__(self, key: K) -> V:
        return self.get(key)

    def __contains__(self, key: K) -> bool:
        return self.contains(key)

    def __iter__(self) -> Iterator[K]:
        return iter(self.keys())


class _WritableMap(_ReadableMap[K, V]):
    """Changes the entries of a map."""

    @abstractmethod
    def put(self, key: K, value: V) -> None:
        """Set the value of a key."""

    @abstractmethod
    def put_all(self, dict_value: dict[K, V]) -> None:
        """Set the values of several keys.

        Args:
            dict_value: pairs of key and value, such as ``a_dict.items()``.
        """

    @abstractmethod
    def remove(self, key: K) -> None:
        """Remove a key; one that is not there is fine."""

    def __setitem__(self, key: K, value: V) -> None:
        self.put(key, value)

    def __delitem__(self, key: K) -> None:
        self.remove(key)


class MapState(_WritableMap[K, V]):
    """Holds a map; it must not be changed while it is iterated."""

    def get_internal_state(self) -> MapState[K, V]:
        """Return the current key's map: the same methods, as in PyFlink."""
        return self


class ReadOnlyBroadcastState(_ReadableMap[K, V]):
    """A broadcast map as the side that is not broadcast sees it."""


class BroadcastState(_WritableMap[K, V], ReadOnlyBroadcastState[K, V]):
    """A broadcast map; every parallel instance has to change it in the same way."""


class StateDescriptor(ABC):
    """Names a state of an operator.

    Args:
        name: its name, one per operator.
        type_info: the type of what it holds.
    """

    _kind: ClassVar[str]

    def __init__(self, name: str, type_info: TypeInformation):
        self.name = name
        self.type_info = type_info
        self._ttl_config: StateTtlConfig | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.type_info})"

    def get_name(self) -> str:
        """Return the name."""
        return self.name

    def enable_time_to_live(self, ttl_config: StateTtlConfig):
        """Give the state a time to live.

        Args:
            ttl_config: when it expires, and what is seen of it then.
        """
        self._ttl_config = ttl_config


class ValueStateDescriptor(StateDescriptor):
    """Names a state of one value.

    Args:
        name: its name.
        value_type_info: the type of the value.
    """

    _kind = "value"

    def __init__(self, name: str, value_type_info: TypeInformation):
        super().__init__(name, value_type_info)


class ListStateDescriptor(StateDescriptor):
    """Names a state of a list.

    Args:
        name: its name.
        elem_type_info: the type of one element.
    """

    _kind = "list"

    def __init__(self, name: str, elem_type_info: TypeInformation):
        super().__init__(name, Types.LIST(elem_type_info))


class MapStateDescriptor(StateDescriptor):
    """Names a state of a map, keyed or broadcast.

    Args:
        name: its name.
        key_type_info: the type of the keys.
        value_type_info: the type of the values.
    """

    _kind = "map"

    def __init__(self, name: str, key_type_info: TypeInformation, value_type_info: TypeInformation):
        super().__init__(name, Types.MAP(key_type_info, value_type_info))


class ReducingStateDescriptor(StateDescriptor):
    """Names a state of one value that all added values are reduced to.

    Args:
        name: its name.
        reduce_function: a ``ReduceFunction``, or a callable of two values.
        type_info: the type of the value.

    Raises:
        TypeError: ``reduce_function`` is neither.
    """

    _kind = "reducing"

    def __init__(self, name: str, reduce_function, type_info: TypeInformation):
        from pyflink_on_spark.datastream.functions import ReduceFunction, ReduceFunctionWrapper

        super().__init__(name, type_info)
        if not isinstance(reduce_function, ReduceFunction):
            if not callable(reduce_function):
                raise TypeError("The input must be a ReduceFunction or a callable function!")
            reduce_function = ReduceFunctionWrapper(reduce_function)
        self._reduce_function = reduce_function

    def get_reduce_function(self):
        """Return the function, as an object with a method ``reduce``."""
        return self._reduce_function


class AggregatingStateDescriptor(StateDescriptor):
    """Names a state of an accumulator of all that is added.

    Args:
        name: its name.
        agg_function: an ``AggregateFunction``.
        state_type_info: the type of the accumulator.

    Raises:
        TypeError: ``agg_function`` is something else.
    """

    _kind = "aggregating"

    def __init__(self, name: str, agg_function, state_type_info):
        from pyflink_on_spark.datastream.functions import AggregateFunction

        super().__init__(name, state_type_info)
        if not isinstance(agg_function, AggregateFunction):
            raise TypeError("The input must be a pyflink.datastream.functions.AggregateFunction!")
        self._agg_function = agg_function

    def get_agg_function(self):
        """Return the aggregate function."""
        return self._agg_function


class StateTtlConfig:
    """The time to live of state, and the visibility of expired state; made with ``new_builder``.

    It holds for the value of a ValueState, each element of a list, each entry of a map.

    Args:
        update_type: which accesses restart the time to live.
        state_visibility: whether what has expired may still be seen.
        ttl_time_characteristic: the clock.
        ttl: how long state lives.
        cleanup_strategies: how expired state is found.
    """

    class UpdateType(Enum):
        """The accesses that restart the time to live."""

        Disabled = 0
        OnCreateAndWrite = 1
        OnReadAndWrite = 2

    class StateVisibility(Enum):
        """The visibility of expired state that is not cleaned up yet."""

        ReturnExpiredIfNotCleanedUp = 0
        NeverReturnExpired = 1

    class TtlTimeCharacteristic(Enum):
        """The clock of the time to live: the machine's."""

        ProcessingTime = 0

    def __init__(
        self,
        update_type: UpdateType,
        state_visibility: StateVisibility,
        ttl_time_characteristic: TtlTimeCharacteristic,
        ttl: Time,
        cleanup_strategies: StateTtlConfig.CleanupStrategies,
    ):
        self._update_type = update_type
        self._state_visibility = state_visibility
        self._ttl_time_characteristic = ttl_time_characteristic
        self._ttl = ttl
        self._cleanup_strategies = cleanup_strategies

    @staticmethod
    def new_builder(ttl: Time):
        """Begin a configuration: every write restarts the time, and expired state is never visible.

        Args:
            ttl: how long state lives.
        """
        return StateTtlConfig.Builder(ttl)

    def get_update_type(self) -> StateTtlConfig.UpdateType:
        """Return which accesses restart the time to live."""
        return self._update_type

    def get_state_visibility(self) -> StateTtlConfig.StateVisibility:
        """Return the visibility of expired state."""
        return self._state_visibility

    def get_ttl(self) -> Time:
        """Return how long state lives."""
        return self._ttl

    def get_ttl_time_characteristic(self) -> StateTtlConfig.TtlTimeCharacteristic:
        """Return the clock."""
        return self._ttl_time_characteristic

    def is_enabled(self) -> bool:
        """True if the state expires."""
        return self._update_type is not StateTtlConfig.UpdateType.Disabled

    def get_cleanup_strategies(self) -> StateTtlConfig.CleanupStrategies:
        """Return how expired state is found."""
        return self._cleanup_strategies

    def __repr__(self) -> str:
        return (
            f"StateTtlConfig<update_type={self._update_type}, "
            f"state_visibility={self._state_visibility},"
            f"ttl_time_characteristic ={self._ttl_time_characteristic},ttl={self._ttl}>"
        )

    class Builder:
        """Makes a ``StateTtlConfig`` step by step.

        Args:
            ttl: how long state lives.
        """

        def __init__(self, ttl: Time):
            self._ttl = ttl
            self._update_type = StateTtlConfig.UpdateType.OnCreateAndWrite
            self._state_visibility = StateTtlConfig.StateVisibility.NeverReturnExpired
            self._ttl_time_characteristic = StateTtlConfig.TtlTimeCharacteristic.ProcessingTime
            self._is_cleanup_in_background = True
            self._strategies: dict[Any, Any] = {}

        def set_update_type(self, update_type: StateTtlConfig.UpdateType) -> StateTtlConfig.Builder:
            """Set which accesses restart the time to live."""
            self._update_type = update_type
            return self

        def update_ttl_on_create_and_write(self) -> StateTtlConfig.Builder:
            """Let every write restart the time to live."""
            return self.set_update_type(StateTtlConfig.UpdateType.OnCreateAndWrite)

        def update_ttl_on_read_and_write(self) -> StateTtlConfig.Builder:
            """Let every write and every read restart the time to live."""
            return self.set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite)

        def set_state_visibility(
            self, state_visibility: StateTtlConfig.StateVisibility
        ) -> StateTtlConfig.Builder:
            """Set the visibility of expired state."""
            self._state_visibility = state_visibility
            return self

        def return_expired_if_not_cleaned_up(self) -> StateTtlConfig.Builder:
            """Return expired values until they are cleaned up."""
            return self.set_state_visibility(
                StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp
            )

        def never_return_expired(self) -> StateTtlConfig.Builder:
            """Never return expired values."""
            return self.set_state_visibility(StateTtlConfig.StateVisibility.NeverReturnExpired)

        def set_ttl_time_characteristic(
            self, ttl_time_characteristic: StateTtlConfig.TtlTimeCharacteristic
        ) -> StateTtlConfig.Builder:
            """Set the clock."""
            self._ttl_time_characteristic = ttl_time_characteristic
            return self

        def use_processing_time(self) -> StateTtlConfig.Builder:
            """Let the machine's clock count."""
            return self.set_ttl_time_characteristic(
                StateTtlConfig.TtlTimeCharacteristic.ProcessingTime
            )

        def cleanup_full_snapshot(self) -> StateTtlConfig.Builder:
            """Leave expired state out of full snapshots.

            On Spark: snapshots also leave it out without this call, unless background cleanup is
            disabled.
            """
            cleanup = StateTtlConfig.CleanupStrategies
            self._strategies[cleanup.Strategies.FULL_STATE_SCAN_SNAPSHOT] = cleanup.EMPTY_STRATEGY
            return self

        def cleanup_incrementally(
            self, cleanup_size: int, run_cleanup_for_every_record
        ) -> StateTtlConfig.Builder:
            """Look for expired entries little by little.

            Args:
                cleanup_size: how many entries to look at in one step.
                run_cleanup_for_every_record: whether to look at every record too, not only
                    when state is accessed.
            """
            cleanup = StateTtlConfig.CleanupStrategies
            self._strategies[cleanup.Strategies.INCREMENTAL_CLEANUP] = (
                cleanup.IncrementalCleanupStrategy(cleanup_size, run_cleanup_for_every_record)
            )
            return self

        def cleanup_in_rocksdb_compact_filter(
            self, query_time_after_num_entries, periodic_compaction_time=None
        ) -> StateTtlConfig.Builder:
            """Drop expired entries when RocksDB compacts its files.

            Args:
                query_time_after_num_entries: how many entries to look at before the clock is
                    asked again.
                periodic_compaction_time: a Duration after which files are compacted in any
                    case; None means 30 days.

            On Spark: there is no RocksDB. Each checkpoint drops expired entries in its place, so
            the two arguments have no effect.
            """
            cleanup = StateTtlConfig.CleanupStrategies
            self._strategies[cleanup.Strategies.ROCKSDB_COMPACTION_FILTER] = (
                cleanup.RocksdbCompactFilterCleanupStrategy(
                    query_time_after_num_entries, periodic_compaction_time
                )
            )
            return self

        def disable_cleanup_in_background(self) -> StateTtlConfig.Builder:
            """Clean up only what is met on access, and what a strategy was set for."""
            self._is_cleanup_in_background = False
            return self

        def set_ttl(self, ttl: Time) -> StateTtlConfig.Builder:
            """Set how long state lives."""
            self._ttl = ttl
            return self

        def build(self) -> StateTtlConfig:
            """Return the configuration."""
            return StateTtlConfig(
                self._update_type,
                self._state_visibility,
                self._ttl_time_characteristic,
                self._ttl,
                StateTtlConfig.CleanupStrategies(
                    dict(self._strategies), self._is_cleanup_in_background
                ),
            )

    class CleanupStrategies:
        """The strategies that find expired state.

        Args:
            strategies: the settings of each strategy that was chosen.
            is_cleanup_in_background: whether state is cleaned up without being accessed.
        """

        class Strategies(Enum):
            """The strategies there are."""

            FULL_STATE_SCAN_SNAPSHOT = 0
            INCREMENTAL_CLEANUP = 1
            ROCKSDB_COMPACTION_FILTER = 2

        class CleanupStrategy(ABC):  # noqa: B024 - as in PyFlink
            """The root of the settings of a strategy."""

        class EmptyCleanupStrategy(CleanupStrategy):
            """A strategy without settings."""

        class IncrementalCleanupStrategy(CleanupStrategy):
            """Looks at some entries at a time.

            Args:
                cleanup_size: how many entries one step looks at.
                run_cleanup_for_every_record: whether every record is a reason for a step.
            """

            def __init__(self, cleanup_size: int, run_cleanup_for_every_record: bool):
                self._cleanup_size = cleanup_size
                self._run_cleanup_for_every_record = run_cleanup_for_every_record

            def get_cleanup_size(self) -> int:
                """Return how many entries one step looks at."""
                return self._cleanup_size

            def run_cleanup_for_every_record(self) -> bool:
                """True if every record causes a cleanup step."""
                return self._run_cleanup_for_every_record

        class RocksdbCompactFilterCleanupStrategy(CleanupStrategy):
            """Drops expired entries when RocksDB compacts its files.

            Args:
                query_time_after_num_entries: how many entries to look at before the clock is
                    asked again.
                periodic_compaction_time: a Duration after which files are compacted in any
                    case; None means 30 days.
            """

            def __init__(self, query_time_after_num_entries: int, periodic_compaction_time=None):
                self._query_time_after_num_entries = query_time_after_num_entries
                self._periodic_compaction_time = periodic_compaction_time or Duration.of_days(30)

            def get_query_time_after_num_entries(self) -> int:
                """Return how many entries are looked at before the clock is asked again."""
                return self._query_time_after_num_entries

            def get_periodic_compaction_time(self) -> Duration:
                """Return after which time files are compacted in any case."""
                return self._periodic_compaction_time

        EMPTY_STRATEGY: ClassVar[EmptyCleanupStrategy] = EmptyCleanupStrategy()

        def __init__(
            self, strategies: dict[Strategies, CleanupStrategy], is_cleanup_in_background: bool
        ):
            self._strategies = strategies
            self._is_cleanup_in_background = is_cleanup_in_background

        def is_cleanup_in_background(self) -> bool:
            """True if expired state is also removed without being accessed."""
            return self._is_cleanup_in_background

        def in_full_snapshot(self) -> bool:
            """True if full snapshots omit expired state."""
            return self.Strategies.FULL_STATE_SCAN_SNAPSHOT in self._strategies

        def get_incremental_cleanup_strategy(
            self,
        ) -> StateTtlConfig.CleanupStrategies.IncrementalCleanupStrategy | None:
            """Return the settings of the incremental strategy.

            Returns:
                5 entries on access if nothing was set; None if background cleanup is off, too.
            """
            return self._chosen(
                self.Strategies.INCREMENTAL_CLEANUP, self.IncrementalCleanupStrategy(5, False)
            )

        def get_rocksdb_compact_filter_cleanup_strategy(
            self,
        ) -> StateTtlConfig.CleanupStrategies.RocksdbCompactFilterCleanupStrategy | None:
            """Return the settings of the strategy of RocksDB.

            Returns:
                1000 entries if nothing was set; None if background cleanup is off, too.
            """
            return self._chosen(
                self.Strategies.ROCKSDB_COMPACTION_FILTER,
                self.RocksdbCompactFilterCleanupStrategy(1000),
            )

        def _chosen(self, strategy: Strategies, default: object) -> Any:
            return self._strategies.get(
                strategy, default if self._is_cleanup_in_background else None
            )


__getattr__ = missing_name(__name__)
