"""Functions of variants: values whose type is known when a query runs."""

from __future__ import annotations

from pyflink_on_spark._sql.functions.parameters import always, booleans, calling, characters
from pyflink_on_spark._sql.plan.signatures import Nulls, Overload, ScalarFunction
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.variants import Variant, parse_variant


def parse_json(text: str, allow_duplicates: bool = False) -> Variant:
    """Read JSON.

    Raises:
        ValueError: the text is no JSON.
    """
    try:
        return parse_variant(text, allow_duplicates)
    except ValueError as error:
        raise ValueError(f"Failed to parse json string: {text}: {error}") from None


def try_parse_json(text: str, allow_duplicates: bool = False) -> Variant | None:
    """Read JSON; return None for a text that is not JSON."""
    try:
        return parse_variant(text, allow_duplicates)
    except ValueError:
        return None


FUNCTIONS = (
    ScalarFunction(
        "PARSE_JSON",
        (
            Overload(
                (characters, booleans), always(logical.VARIANT), calling(parse_json), optional=1
            ),
        ),
    ),
    ScalarFunction(
        "TRY_PARSE_JSON",
        (
            Overload(
                (characters, booleans),
                always(logical.VARIANT),
                calling(try_parse_json),
                Nulls.STRICT_NULLABLE,
                optional=1,
            ),
        ),
    ),
)
