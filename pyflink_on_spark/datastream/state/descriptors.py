"""Descriptors of state: its name, its type and its time to live."""

from __future__ import annotations

from abc import ABC
from typing import TYPE_CHECKING, ClassVar

from pyflink_on_spark.common.typeinfo import TypeInformation, Types

if TYPE_CHECKING:
    from pyflink_on_spark.datastream.state.ttl import StateTtlConfig


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
