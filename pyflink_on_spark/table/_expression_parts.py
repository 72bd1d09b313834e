"""How the methods of expressions are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyflink_on_spark.table.expression import Expression


class Operand:
    """Something that functions can be called with."""

    _written: Any

    def _of(self, name: str, *operands: Any, symbols: tuple[str, ...] = ()) -> Expression:
        """Return a function of this and of other operands, without those that are None."""
        raise NotImplementedError


def function(name: str, document: str) -> Any:
    """Return a property that is a function of the expression.

    Args:
        name: the function's, as SQL has it.
        document: what the property is.
    """

    def get(self: Operand) -> Expression:
        return self._of(name)

    return property(get, doc=document)
