"""The methods of expressions for arrays, maps and rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyflink_on_spark.table.expression.parts import Operand, function

if TYPE_CHECKING:
    from pyflink_on_spark.table.expression.expression import Expression


class CollectionMethods(Operand):
    """The methods of arrays and maps."""

    cardinality = function("CARDINALITY", "How many elements it has.")
    element = function("ELEMENT", "Its only element.")
    map_keys = function("MAP_KEYS", "Its keys.")
    map_values = function("MAP_VALUES", "Its values.")
    map_entries = function("MAP_ENTRIES", "Its keys and values, as rows.")

    def array_append(self, addition) -> Expression:
        """The array with a further element at its end."""
        return self._of("ARRAY_APPEND", addition)

    def array_contains(self, needle) -> Expression:
        """True if the array contains an element."""
        return self._of("ARRAY_CONTAINS", needle)

    def array_distinct(self) -> Expression:
        """The array without duplicates."""
        return self._of("ARRAY_DISTINCT")

    def array_position(self, needle) -> Expression:
        """Return where an element is, counted from 1; 0 if nowhere."""
        return self._of("ARRAY_POSITION", needle)

    def array_prepend(self, addition) -> Expression:
        """The array with a further element at its beginning."""
        return self._of("ARRAY_PREPEND", addition)

    def array_remove(self, needle) -> Expression:
        """The array without the elements that equal a value."""
        return self._of("ARRAY_REMOVE", needle)

    def array_reverse(self) -> Expression:
        """The array in reverse order."""
        return self._of("ARRAY_REVERSE")

    def array_slice(self, start_offset, end_offset=None) -> Expression:
        """Return a part of it."""
        return self._of("ARRAY_SLICE", start_offset, end_offset)

    def array_sort(self, ascending_order=None, null_first=None) -> Expression:
        """The array in sorted order."""
        return self._of("ARRAY_SORT", ascending_order, null_first)

    def array_union(self, array) -> Expression:
        """Return the elements of two arrays without doubles."""
        return self._of("ARRAY_UNION", array)

    def array_concat(self, *arrays) -> Expression:
        """Return arrays one after the other."""
        return self._of("ARRAY_CONCAT", *arrays)

    def array_max(self) -> Expression:
        """Return its largest element."""
        return self._of("ARRAY_MAX")

    def array_join(self, delimiter, null_replacement=None) -> Expression:
        """Return its elements as one text."""
        return self._of("ARRAY_JOIN", delimiter, null_replacement)

    def array_min(self) -> Expression:
        """Return its smallest element."""
        return self._of("ARRAY_MIN")

    def array_except(self, array) -> Expression:
        """Return its elements that another array has not."""
        return self._of("ARRAY_EXCEPT", array)

    def array_intersect(self, array) -> Expression:
        """Return the elements of both arrays."""
        return self._of("ARRAY_INTERSECT", array)

    def map_union(self, *maps) -> Expression:
        """Return the pairs of all maps."""
        return self._of("MAP_UNION", *maps)
