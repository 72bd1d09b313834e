"""A window operation with all that belongs to it."""

from __future__ import annotations

from pyflink_on_spark.common.serializer import TypeSerializer
from pyflink_on_spark.datastream.functions import InternalWindowFunction
from pyflink_on_spark.datastream.output_tag import OutputTag
from pyflink_on_spark.datastream.state import StateDescriptor
from pyflink_on_spark.datastream.window.assigners import WindowAssigner
from pyflink_on_spark.datastream.window.triggers import Trigger


def description_of(part: WindowAssigner | Trigger) -> str:
    """Return an assigner or a trigger with its numbers; of a user's class the name only."""
    name = type(part).__qualname__
    if not type(part).__module__.startswith(__name__.rpartition(".")[0]):
        return name
    found = (_part_text(value) for value in vars(part).values())
    return f"{name}({', '.join(text for text in found if text is not None)})"


def _part_text(value: object) -> str | None:
    if isinstance(value, WindowAssigner | Trigger):
        return description_of(value)
    return str(value) if isinstance(value, int) else None


class WindowOperationDescriptor:
    """A window operation: which windows, when they fire, and what becomes of them.

    Args:
        assigner: which windows an element belongs to.
        trigger: when they fire.
        allowed_lateness: how long after its end a window is kept, in milliseconds.
        late_data_output_tag: the side output of late elements, or None.
        window_state_descriptor: the state that holds the contents of a window.
        window_serializer: writes windows as bytes.
        internal_window_function: what becomes of a window that fires.
    """

    def __init__(
        self,
        assigner: WindowAssigner,
        trigger: Trigger,
        allowed_lateness: int,
        late_data_output_tag: OutputTag | None,
        window_state_descriptor: StateDescriptor,
        window_serializer: TypeSerializer,
        internal_window_function: InternalWindowFunction,
    ):
        self.assigner = assigner
        self.trigger = trigger
        self.allowed_lateness = allowed_lateness
        self.late_data_output_tag = late_data_output_tag
        self.window_state_descriptor = window_state_descriptor
        self.window_serializer = window_serializer
        self.internal_window_function = internal_window_function

    def generate_op_name(self):
        """Return the name of the operator: that of the assigner's class."""
        return type(self.assigner).__name__

    def generate_op_desc(self, windowed_stream_type, func_desc):
        """Return a text that tells assigner, trigger and function.

        Args:
            windowed_stream_type: what kind of stream it is.
            func_desc: what kind of function it is.
        """
        trigger_name = type(self.trigger).__name__
        return f"{windowed_stream_type}({self.assigner}, {trigger_name}, {func_desc})"
