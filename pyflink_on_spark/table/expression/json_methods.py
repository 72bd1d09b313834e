"""The methods of expressions for JSON."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from pyflink_on_spark._sql.types.logical import Root
from pyflink_on_spark.common.data_types import DataType, DataTypes
from pyflink_on_spark.table.expression.parts import Operand

if TYPE_CHECKING:
    from pyflink_on_spark.table.expression.expression import Expression


class JsonType(enum.Enum):
    """Kinds of JSON."""

    VALUE = (0,)
    SCALAR = (1,)
    ARRAY = (2,)
    OBJECT = 3


class JsonExistsOnError(enum.Enum):
    """The result of ``json_exists`` for errors."""

    TRUE = (0,)
    FALSE = (1,)
    UNKNOWN = (2,)
    ERROR = 3


class JsonValueOnEmptyOrError(enum.Enum):
    """The result of ``json_value`` for errors and for empty results."""

    NULL = (0,)
    ERROR = (1,)
    DEFAULT = 2


class JsonQueryWrapper(enum.Enum):
    """The array around the results of ``json_query``: none, always, or if needed."""

    WITHOUT_ARRAY = (0,)
    CONDITIONAL_ARRAY = (1,)
    UNCONDITIONAL_ARRAY = 2


class JsonQueryOnEmptyOrError(enum.Enum):
    """The result of ``json_query`` for errors and for empty results."""

    NULL = (0,)
    EMPTY_ARRAY = (1,)
    EMPTY_OBJECT = (2,)
    ERROR = 3


class JsonOnNull(enum.Enum):
    """The treatment of NULL in JSON."""

    NULL = (0,)
    ABSENT = 1


class JsonMethods(Operand):
    """The methods of JSON."""

    def is_json(self, json_type: JsonType = None) -> Expression[bool]:
        """True if the text is JSON of a certain kind."""
        kind = "VALUE" if json_type is None else json_type.name
        return self._of("IS JSON", symbols=(kind,))

    def json_quote(self) -> Expression:
        """Return a text as a string of JSON."""
        return self._of("JSON_QUOTE")

    def json_unquote(self) -> Expression:
        """Return the text that a string of JSON stands for."""
        return self._of("JSON_UNQUOTE")

    def json_exists(self, path: str, on_error: JsonExistsOnError = None) -> Expression[bool]:
        """True if the path exists in the document.

        Args:
            path: the path.
            on_error: the result for errors; False if not given.
        """
        symbols = () if on_error is None else (on_error.name,)
        return self._of("JSON_EXISTS", path, symbols=symbols)

    def json_value(
        self,
        path: str,
        returning_type: DataType = DataTypes.STRING(),
        on_empty: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_empty: object = None,
        on_error: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_error: object = None,
    ) -> Expression:
        """Return the scalar that a path leads to.

        Args:
            path: the path.
            returning_type: the type of the result.
            on_empty: what happens where there is nothing.
            default_on_empty: the result then.
            on_error: what happens about errors.
            default_on_error: the result then.
        """
        from pyflink_on_spark.table.expression.parts import logical_type

        root = logical_type(returning_type).root
        names = {Root.VARCHAR: "STRING", Root.BOOLEAN: "BOOLEAN", Root.INT: "INTEGER",
                 Root.BIGINT: "BIGINT", Root.DOUBLE: "DOUBLE"}  # fmt: skip
        defaults = []
        if on_empty is JsonValueOnEmptyOrError.DEFAULT:
            defaults.append(default_on_empty)
        if on_error is JsonValueOnEmptyOrError.DEFAULT:
            defaults.append(default_on_error)
        symbols = (names[root], on_empty.name, on_error.name)
        return self._of("JSON_VALUE", path, *defaults, symbols=symbols)

    def json_query(
        self,
        path: str,
        wrapping_behavior=JsonQueryWrapper.WITHOUT_ARRAY,
        on_empty=JsonQueryOnEmptyOrError.NULL,
        on_error=JsonQueryOnEmptyOrError.NULL,
    ) -> Expression:
        """Return the object or the array that a path leads to.

        Args:
            path: the path.
            wrapping_behavior: the array around the result.
            on_empty: the result where there is nothing.
            on_error: the result for errors.
        """
        wrapper = wrapping_behavior.name.partition("_")[0]
        behaviours = (each.name.replace("_", " ") for each in (on_empty, on_error))
        return self._of("JSON_QUERY", path, symbols=(wrapper, *behaviours))
