"""The flow of a stream: its edge in the graph, and how the next operator is added."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.own_frames import capture_call_site
from pyflink_on_spark._graph.stream_graph import Edge, Transformation
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.contract.plan import Partitioner
from pyflink_on_spark._runtime.user_code import PlainFunction, UserFunction
from pyflink_on_spark.common.typeinfo import RowTypeInfo, TypeInformation, Types

if TYPE_CHECKING:
    from pyflink_on_spark.datastream.stream_execution_environment import (
        StreamExecutionEnvironment,
    )


@dataclass(frozen=True)
class Flow:
    """The elements of a stream: their origin and their type.

    Args:
        environment: whose job it belongs to.
        edges: how the next operator reads it; more than one for a union.
        type_info: the type of the elements.
        direct: whether it is what an operator emits, not repartitioned and no union, so that the
            operator's settings can be changed through it.
    """

    environment: StreamExecutionEnvironment
    edges: tuple[Edge, ...]
    type_info: TypeInformation
    direct: bool = True

    @property
    def transformation(self) -> Transformation:
        """The operator whose settings the stream's setters change."""
        if not self.direct:
            raise Exception("Only an operator has settings, not a repartitioned stream or a union.")
        return self.edges[0].upstream

    def partitioned(self, partitioner: Partitioner) -> Flow:
        """Return the same elements, spread in another way."""
        edges = tuple(replace(edge, partitioner=partitioner) for edge in self.edges)
        return replace(self, edges=edges, direct=False)

    def reading(self, port: int) -> tuple[Edge, ...]:
        """Return the edges for a certain input of an operator."""
        return tuple(replace(edge, port=port) for edge in self.edges)


def flow_of(stream: Any) -> Flow:
    """Return the flow that a stream stands for."""
    flow: Flow = stream._flow
    return flow


def add_operator(
    environment: StreamExecutionEnvironment,
    name: str,
    operator: Operator | None,
    edges: tuple[Edge, ...],
    type_info: TypeInformation,
    **settings: Any,
) -> Flow:
    """Record an operator of the program; return its output."""
    settings.setdefault("parallelism", environment._explicit_parallelism())
    transformation = Transformation(
        name=name,
        operator=operator,
        edges=edges,
        call_site=capture_call_site(),
        type_info=type_info,
        **settings,
    )
    environment._add(transformation)
    return Flow(environment, (Edge(transformation, type_info),), type_info)


def user_function(
    function: object, base: type, method: str, complaint: str | None = None
) -> UserFunction:
    """Return a user's function object, or a callable in the shape of one.

    Raises:
        TypeError: if it is neither, or cannot be pickled.
    """
    if isinstance(function, base):
        return UserFunction.of(function)
    if callable(function):
        return UserFunction.of(PlainFunction(method, function))
    raise TypeError(complaint or f"The input must be a {base.__name__} or a callable function")


def declared_type(output_type: object) -> TypeInformation:
    """Return the type a user declared: none is untyped, a list of types is a row of them."""
    if output_type is None:
        return Types.PICKLED_BYTE_ARRAY()
    if isinstance(output_type, list):
        row = RowTypeInfo(output_type)
        row.get_field_names()  # gives the fields their names f0, f1, ...
        return row
    if not isinstance(output_type, TypeInformation):
        raise TypeError(
            f"output_type must be None, list or TypeInformation, not {type(output_type).__name__}"
        )
    return output_type
