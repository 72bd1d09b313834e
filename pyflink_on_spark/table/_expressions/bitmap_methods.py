"""The functions of expressions that are bitmaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyflink_on_spark.table._expressions.parts import Operand

if TYPE_CHECKING:
    from pyflink_on_spark.table.expression import Expression


class BitmapMethods(Operand):
    """Methods of sets of 32-bit whole numbers."""

    def bitmap_and(self, bitmap2) -> Expression:
        """Return the numbers that are in both bitmaps."""
        return self._of("BITMAP_AND", bitmap2)

    def bitmap_andnot(self, bitmap2) -> Expression:
        """Return the numbers that are in this bitmap and not in the other one."""
        return self._of("BITMAP_ANDNOT", bitmap2)

    def bitmap_or(self, bitmap2) -> Expression:
        """Return the numbers that are in one of two bitmaps."""
        return self._of("BITMAP_OR", bitmap2)

    def bitmap_xor(self, bitmap2) -> Expression:
        """Return the numbers that are in exactly one of two bitmaps."""
        return self._of("BITMAP_XOR", bitmap2)

    def bitmap_build(self) -> Expression:
        """Return the bitmap of an array of whole numbers."""
        return self._of("BITMAP_BUILD")

    def bitmap_cardinality(self) -> Expression:
        """Return how many numbers a bitmap has."""
        return self._of("BITMAP_CARDINALITY")

    def bitmap_from_bytes(self) -> Expression:
        """Return the bitmap that bytes in the format of RoaringBitmap stand for."""
        return self._of("BITMAP_FROM_BYTES")

    def bitmap_to_array(self) -> Expression:
        """Return the numbers of a bitmap in order."""
        return self._of("BITMAP_TO_ARRAY")

    def bitmap_to_bytes(self) -> Expression:
        """Return a bitmap as bytes in the format of RoaringBitmap."""
        return self._of("BITMAP_TO_BYTES")

    def bitmap_to_string(self) -> Expression:
        """Return a bitmap as text."""
        return self._of("BITMAP_TO_STRING")

    def bitmap_build_agg(self):
        """Return the bitmap of the numbers of all rows."""
        return self._of("BITMAP_BUILD_AGG")

    def bitmap_build_cardinality_agg(self):
        """Return how many different numbers the rows have."""
        return self._of("BITMAP_BUILD_CARDINALITY_AGG")

    def bitmap_and_agg(self):
        """Return the numbers that are in all bitmaps."""
        return self._of("BITMAP_AND_AGG")

    def bitmap_and_cardinality_agg(self):
        """Return how many numbers are in all bitmaps."""
        return self._of("BITMAP_AND_CARDINALITY_AGG")

    def bitmap_or_agg(self):
        """Return the numbers that are in at least one bitmap."""
        return self._of("BITMAP_OR_AGG")

    def bitmap_or_cardinality_agg(self):
        """Return how many numbers are in at least one bitmap."""
        return self._of("BITMAP_OR_CARDINALITY_AGG")

    def bitmap_xor_agg(self):
        """Return the numbers that are in an odd number of bitmaps."""
        return self._of("BITMAP_XOR_AGG")

    def bitmap_xor_cardinality_agg(self):
        """Return how many numbers are in an odd number of bitmaps."""
        return self._of("BITMAP_XOR_CARDINALITY_AGG")
