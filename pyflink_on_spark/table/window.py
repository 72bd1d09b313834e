"""Windows of the DSL."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._sql.plan.nodes import WindowKind
from pyflink_on_spark.table.expression import Expression
from pyflink_on_spark.table.text_expressions import as_expression, parse_expressions

__all__ = ["GroupWindow", "Over", "OverWindow", "Session", "Slide", "Tumble"]


@dataclass(frozen=True)
class _Window:
    """A window with the properties that are set so far."""

    kind: WindowKind
    size: object
    step: object = None
    time: Any = None
    name: str = ""


class GroupWindow:
    """A window that rows can be grouped by.

    Args:
        java_window: use ``Tumble``, ``Slide`` and ``Session``.
    """

    def __init__(self, java_window):
        self._window: _Window = java_window


class Tumble:
    """Windows that follow each other."""

    @classmethod
    def over(cls, size: Expression | str) -> TumbleWithSize:
        """Set the size of the windows, for example ``lit(10).minutes``."""
        return TumbleWithSize(_Window(WindowKind.TUMBLE, as_expression(size)))


class TumbleWithSize:
    """Tumbling windows of some size."""

    def __init__(self, java_window):
        self._window: _Window = java_window

    def on(self, time_field: Expression | str) -> TumbleWithSizeOnTime:
        """Set the time attribute."""
        return TumbleWithSizeOnTime(replace(self._window, time=as_expression(time_field)))


class TumbleWithSizeOnTime:
    """Tumbling windows over a time attribute."""

    def __init__(self, java_window):
        self._window: _Window = java_window

    def alias(self, alias: str) -> GroupWindow:
        """Give the window a name, to be grouped by."""
        return GroupWindow(replace(self._window, name=alias))


class Session:
    """Windows that end when nothing comes for some time."""

    @classmethod
    def with_gap(cls, gap: Expression | str) -> SessionWithGap:
        """Set after how long without rows a session ends."""
        return SessionWithGap(_Window(WindowKind.SESSION, as_expression(gap)))


class SessionWithGap:
    """Sessions with some gap."""

    def __init__(self, java_window):
        self._window: _Window = java_window

    def on(self, time_field: Expression | str) -> SessionWithGapOnTime:
        """Set the time attribute."""
        return SessionWithGapOnTime(replace(self._window, time=as_expression(time_field)))


class SessionWithGapOnTime:
    """Sessions over a time attribute."""

    def __init__(self, java_window):
        self._window: _Window = java_window

    def alias(self, alias: str) -> GroupWindow:
        """Give the window a name, to be grouped by."""
        return GroupWindow(replace(self._window, name=alias))


class Slide:
    """Windows that overlap."""

    @classmethod
    def over(cls, size: Expression | str) -> SlideWithSize:
        """Set the size of the windows."""
        return SlideWithSize(_Window(WindowKind.HOP, as_expression(size)))


class SlideWithSize:
    """Sliding windows of some size."""

    def __init__(self, java_window):
        self._window: _Window = java_window

    def every(self, slide: Expression | str) -> SlideWithSizeAndSlide:
        """Set how far one window begins after the other."""
        return SlideWithSizeAndSlide(replace(self._window, step=as_expression(slide)))


class SlideWithSizeAndSlide:
    """Sliding windows of some size and slide."""

    def __init__(self, java_window):
        self._window: _Window = java_window

    def on(self, time_field: Expression | str) -> SlideWithSizeAndSlideOnTime:
        """Set the time attribute."""
        return SlideWithSizeAndSlideOnTime(replace(self._window, time=as_expression(time_field)))


class SlideWithSizeAndSlideOnTime:
    """Sliding windows over a time attribute."""

    def __init__(self, java_window):
        self._window: _Window = java_window

    def alias(self, alias: str) -> GroupWindow:
        """Give the window a name, to be grouped by."""
        return GroupWindow(replace(self._window, name=alias))


@dataclass(frozen=True)
class _OverWindow:
    """An over window with the properties that are set so far."""

    partition: tuple[Any, ...] = ()
    order: Any = None
    lower: object = None
    upper: Any = None
    name: str = ""


def _keys(given: tuple[Any, ...]) -> tuple[object, ...]:
    if len(given) == 1 and isinstance(given[0], str):
        return tuple(parse_expressions(given[0]))
    return given


class Over:
    """Windows of rows around each row."""

    @classmethod
    def order_by(cls, order_by: Expression | str) -> OverWindowPartitionedOrdered:
        """Set the time attribute that rows are ordered by."""
        return OverWindowPartitionedOrdered(_OverWindow(order=as_expression(order_by)))

    @classmethod
    def partition_by(cls, *partition_by: Expression | str) -> OverWindowPartitioned:
        """Set which rows are together."""
        return OverWindowPartitioned(_OverWindow(_keys(partition_by)))


class OverWindowPartitioned:
    """An over window of rows that are together."""

    def __init__(self, java_over_window):
        self._window: _OverWindow = java_over_window

    def order_by(self, order_by: Expression | str) -> OverWindowPartitionedOrdered:
        """Set the time attribute that rows are ordered by."""
        return OverWindowPartitionedOrdered(replace(self._window, order=as_expression(order_by)))


class OverWindowPartitionedOrdered:
    """An over window of ordered rows."""

    def __init__(self, java_over_window):
        self._window: _OverWindow = java_over_window

    def alias(self, alias: str) -> OverWindow:
        """Give the window a name."""
        return OverWindow(replace(self._window, name=alias))

    def preceding(self, preceding: Expression | str) -> OverWindowPartitionedOrderedPreceding:
        """Set how far the window goes back."""
        return OverWindowPartitionedOrderedPreceding(
            replace(self._window, lower=as_expression(preceding))
        )


class OverWindowPartitionedOrderedPreceding:
    """An over window that goes back to somewhere."""

    def __init__(self, java_over_window):
        self._window: _OverWindow = java_over_window

    def alias(self, alias: str) -> OverWindow:
        """Give the window a name."""
        return OverWindow(replace(self._window, name=alias))

    def following(self, following: Expression | str) -> OverWindowPartitionedOrderedPreceding:
        """Set how far the window extends."""
        return OverWindowPartitionedOrderedPreceding(
            replace(self._window, upper=as_expression(following))
        )


class OverWindow:
    """A window of rows around each row.

    Args:
        java_over_window: use ``Over``.
    """

    def __init__(self, java_over_window):
        self._window: _OverWindow = java_over_window


__getattr__ = missing_name(__name__)
