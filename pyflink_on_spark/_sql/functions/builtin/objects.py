"""OBJECT_OF and OBJECT_UPDATE: objects of a STRUCTURED type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.expressions import Constant, Typed
from pyflink_on_spark._sql.plan.signatures import (
    CallSite,
    Nulls,
    Overload,
    ScalarFunction,
    any_type,
    like,
)
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root, check_class_name

_SIGNATURE_OF = "OBJECT_OF(class name STRING, [STRING, ANY]*...)"
_SIGNATURE_UPDATE = "OBJECT_UPDATE(object STRUCTURED_TYPE, [STRING, ANY]+...)"


@dataclass(frozen=True, eq=False)
class PairsOverload(Overload):
    """A form that takes one argument, and then pairs of a field's name and its value."""

    def takes(self, count: int) -> bool:
        """True for one argument and pairs."""
        return count % 2 == 1


def _refused(name: str, args: Sequence[Typed], cause: str) -> ValidationError:
    types = ", ".join(str(arg.type) for arg in args)
    return ValidationError(f"Invalid function call:\n{name}({types})\n{cause}")


def _unexpected(name: str, args: Sequence[Typed], signature: str) -> ValidationError:
    cause = f"Invalid input arguments. Expected signatures are:\n{signature}"
    return _refused(name, args, cause)


def _text(arg: Typed) -> str | None:
    """The value of an argument that is written as a text; None for others."""
    value = arg.value if isinstance(arg, Constant) else None
    return value if isinstance(value, str) else None


def _names(args: Sequence[Typed]) -> list[str] | None:
    """The names in the pairs, or None if one is no text or comes twice."""
    names = [_text(arg) for arg in args[1::2]]
    known = [name for name in names if name is not None]
    return known if len(set(known)) == len(names) else None


def _type_of_object(args: Sequence[Typed], _symbols: tuple[str, ...]) -> LogicalType:
    class_name, names = _text(args[0]), _names(args)
    if class_name is None or names is None:
        raise _unexpected("OBJECT_OF", args, _SIGNATURE_OF)
    try:
        check_class_name(class_name)
    except ValidationError as error:
        raise _refused("OBJECT_OF", args, error.message) from None
    types = tuple(arg.type.plain() for arg in args[2::2])
    return logical.structured(class_name, tuple(names), types)


def _made_object(site: CallSite) -> str:
    values = [site.source(index) for index in range(2, len(site.args), 2)]
    return f"({', '.join(values)},)" if values else "()"


def _type_of_update(args: Sequence[Typed], _symbols: tuple[str, ...]) -> LogicalType:
    kind, names = args[0].type, _names(args)
    if kind.root is not Root.STRUCTURED or names is None:
        raise _unexpected("OBJECT_UPDATE", args, _SIGNATURE_UPDATE)
    types = dict(zip(kind.names, kind.children))
    for name, value in zip(names, args[2::2]):
        if name not in types:
            raise _unexpected("OBJECT_UPDATE", args, _SIGNATURE_UPDATE)
        types[name] = value.type.plain()
    return replace(kind, children=tuple(types.values()))


def _updated_object(site: CallSite) -> str:
    kind = site.types[0]
    whole = site.atom(0)
    fields = [f"{whole}[{index}]" for index in range(len(kind.names))]
    for index in range(1, len(site.args), 2):
        fields[kind.names.index(site.constant(index))] = site.atom(index + 1)
    made = f"({', '.join(fields)},)" if fields else whole
    return f"None if {whole} is None else {made}" if kind.nullable else made


FUNCTIONS = (
    ScalarFunction(
        "OBJECT_OF",
        (PairsOverload((any_type,), like(), _made_object, Nulls.CALLED, shape=_type_of_object),),
        by_signature=True,
    ),
    ScalarFunction(
        "OBJECT_UPDATE",
        (PairsOverload((any_type,), like(), _updated_object, Nulls.CALLED, shape=_type_of_update),),
        by_signature=True,
    ),
)
