"""What the annotations of a script say of values."""

from __future__ import annotations

import ast
from collections.abc import Callable

from pyflink_on_spark.tools.check.values import (
    UNKNOWN,
    AbsentValue,
    ClassValue,
    InstanceValue,
    LocalClass,
    LocalInstance,
    Value,
    join,
)


def annotated(annotation: ast.expr, value_of: Callable[[ast.expr], Value]) -> Value:
    """Return what is known of a value that has an annotation.

    Args:
        annotation: what stands after the colon.
        value_of: returns what is known of an expression.
    """
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return UNKNOWN
    if isinstance(annotation, ast.BinOp):
        return join(annotated(annotation.left, value_of), annotated(annotation.right, value_of))
    if isinstance(annotation, ast.Subscript):
        optional = ast.unparse(annotation.value).endswith("Optional")
        return annotated(annotation.slice, value_of) if optional else UNKNOWN
    value = value_of(annotation)
    if isinstance(value, ClassValue):
        return InstanceValue(value.cls)
    if isinstance(value, AbsentValue):
        return value
    return LocalInstance(value.node) if isinstance(value, LocalClass) else UNKNOWN
