# mypy: disable-error-code="empty-body"
"""Functions of expressions that are not there yet: names and signatures only."""

from __future__ import annotations

from pyflink_on_spark._compat.unsupported import Gap, unsupported_class
from pyflink_on_spark.table.expression.parts import Operand

_with_udf = unsupported_class(
    kind=Gap.NOT_YET,
    reason="SQL has no such function here",
    instead="Write it as a Python function with udf or udaf.",
    known_as="Expression",
)


@_with_udf
class MissingMethods(Operand):
    """The methods that raise."""

    def as_argument(self, name): ...

    def object_update(self, *kv): ...
