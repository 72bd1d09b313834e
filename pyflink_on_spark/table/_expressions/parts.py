"""How the methods of expressions are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark.table._expressions.literals import literal

if TYPE_CHECKING:
    from pyflink_on_spark.table.expression import Expression


class Operand:
    """Something that functions can be called with."""

    _written: Any

    def _new(self, written: syntax.Expression) -> Expression[Any]:
        """Return what is written as an expression of users'."""
        raise NotImplementedError

    def _of(self, name: str, *operands: Any, symbols: tuple[str, ...] = ()) -> Expression[Any]:
        """Return a function of this and of other operands, without those that are None."""
        given = [operand for operand in operands if operand is not None]
        args = (self._written, *map(written_operand, given))
        return self._new(syntax.Call(name, args, symbols=symbols))


def written_operand(operand: Any) -> syntax.Expression:
    """Return what stands for an operand: an expression, or a constant."""
    return operand._written if isinstance(operand, Operand) else literal(operand)


def function(name: str, document: str) -> Any:
    """Return a property that is a function of the expression.

    Args:
        name: the function's, as SQL has it.
        document: what the property is.
    """

    def get(self: Operand) -> Expression[Any]:
        return self._of(name)

    return property(get, doc=document)
