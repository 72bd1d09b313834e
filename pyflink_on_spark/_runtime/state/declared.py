"""Coercion of values to the declared type of their state.

PyFlink writes a state through its type when a bundle ends, and reads the result back once its cache
has evicted the value. What has another type fails then; what only looks different from what comes
back stays as it is for as long as the cache has it, which depends on how many keys there are. Here
it always stays as it is, unless the cache is turned off, and it fails when it is put in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pyflink_on_spark._compat.own_frames import compiled_file
from pyflink_on_spark._runtime.types.codec import ConversionError
from pyflink_on_spark._runtime.types.codecs import codec_of
from pyflink_on_spark._runtime.types.fitting import named_in, stored_test
from pyflink_on_spark._runtime.types.stream import one_by_one
from pyflink_on_spark.common.typeinfo import ListTypeInfo, MapTypeInfo, PickledBytesTypeInfo

Coercion = Callable[[Any], Any]
"""Takes a value, returns what is kept of it; raises if it does not have the declared type."""

_FILE = compiled_file("state type")


def coercion(
    name: str, type_info: Any, converted: bool, what: str = "was put into"
) -> Coercion | None:
    """Return the coercion for the values of a state, or None if there is none.

    Of lists and maps the last element is looked at only: those before were when they came.

    Args:
        name: the state's.
        type_info: the declared type of its values.
        converted: whether values are kept as they come back from PyFlink's state backend.
        what: how a value and the state are related, for the error.
    """
    if type_info is None or isinstance(type_info, PickledBytesTypeInfo):
        return None
    # A state has no null, also where a stream of the type has.
    codec = replace(codec_of(type_info), nullable=False)
    convert = _explained(f"It {what} the state {name!r}.", one_by_one(codec))
    if converted:
        return convert
    return _compiled(type_info, convert)


def _compiled(type_info: Any, convert: Coercion) -> Coercion:
    """Compile the quick test of a type; what the test is not sure of goes to the conversion."""
    names: dict[str, Any] = {"convert": convert}
    test = stored_test(type_info, "value", named_in(names)) or "False"
    source = f"def fit(value):\n if not ({test}): convert(value)\n return value"
    exec(compile(source, _FILE, "exec"), names)  # noqa: S102 - the text is of this package
    fit: Coercion = names["fit"]
    return fit


def fitting_ints(type_info: Any) -> tuple[int, int]:
    """Return the least and the greatest int that a state surely keeps as it is.

    If the first is greater, it keeps no int so. This spares the most frequent values a call of what
    ``coercion`` returns.
    """
    if type_info is None or isinstance(type_info, PickledBytesTypeInfo):
        return -(1 << 63), (1 << 63) - 1
    return codec_of(type_info).ints


def element_coercion(name: str, type_info: Any, converted: bool) -> Coercion | None:
    """Return the same for the elements of a list state."""
    element = type_info.elem_type if isinstance(type_info, ListTypeInfo) else None
    return coercion(name, element, converted)


def entry_coercions(
    name: str, type_info: Any, converted: bool
) -> tuple[Coercion | None, Coercion | None]:
    """Return the same for the keys and for the values of a map state; a value may be None."""
    if not isinstance(type_info, MapTypeInfo):
        return None, None
    return (
        coercion(name, type_info._key_type_info, converted, "is a key of"),
        _or_none(coercion(name, type_info._value_type_info, converted)),
    )


def _or_none(fit: Coercion | None) -> Coercion | None:
    return None if fit is None else lambda value: None if value is None else fit(value)


def _explained(note: str, convert: Coercion) -> Coercion:
    def explained(value: Any) -> Any:
        try:
            return convert(value)
        except ConversionError as error:
            error.add_note(note)
            raise

    return explained
