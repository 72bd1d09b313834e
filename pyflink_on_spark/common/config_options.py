"""Descriptions of options: a key, a type and a default."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Generic, TypeVar

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._options.option import (
    Option,
    option_text,
    parse_boolean,
    parse_double,
    parse_int,
    parse_long,
)

T = TypeVar("T")

__all__ = ["ConfigOptions", "ConfigOption"]


class ConfigOptions:
    """The first part of an option's description: ``ConfigOptions.key("a.b").int_type()...``.

    Args:
        j_config_options: nothing that this package uses.
    """

    def __init__(self, j_config_options: object) -> None:
        self._j_config_options = j_config_options

    @staticmethod
    def key(key: str) -> ConfigOptions.OptionBuilder:
        """Begin the description of the option with this key.

        Raises:
            TypeError: the key is not a str.
        """
        return ConfigOptions.OptionBuilder(own_handle(key, str, "ConfigOptions.key(key)"))

    class OptionBuilder:
        """An option whose type is still open.

        Args:
            j_option_builder: the key.
        """

        def __init__(self, j_option_builder: Any) -> None:
            self._key = own_handle(j_option_builder, str, "OptionBuilder(j_option_builder)")

        def boolean_type(self) -> ConfigOptions.TypedConfigOptionBuilder[bool]:
            """Let the option be true or false."""
            return self._typed("boolean", parse_boolean)

        def int_type(self) -> ConfigOptions.TypedConfigOptionBuilder[int]:
            """Let the option be a whole number of 32 bits."""
            return self._typed("integer", parse_int)

        def long_type(self) -> ConfigOptions.TypedConfigOptionBuilder[int]:
            """Let the option be a whole number of 64 bits."""
            return self._typed("long", parse_long)

        def float_type(self) -> ConfigOptions.TypedConfigOptionBuilder[float]:
            """Let the option be a number."""
            return self._typed("double", parse_double)

        def double_type(self) -> ConfigOptions.TypedConfigOptionBuilder[float]:
            """Let the option be a number."""
            return self._typed("double", parse_double)

        def string_type(self) -> ConfigOptions.TypedConfigOptionBuilder[str]:
            """Let the option be a text."""
            return self._typed("string", option_text)

        def _typed(self, kind: str, parse: Any) -> ConfigOptions.TypedConfigOptionBuilder[Any]:
            return ConfigOptions.TypedConfigOptionBuilder(Option(self._key, kind, parse, None))

    class TypedConfigOptionBuilder(Generic[T]):
        """An option whose default is still open.

        Args:
            j_typed_config_option_builder: this package's description of it.
        """

        def __init__(self, j_typed_config_option_builder: Any) -> None:
            call = "TypedConfigOptionBuilder(j_typed_config_option_builder)"
            self._option: Option[Any] = own_handle(j_typed_config_option_builder, Option, call)

        def default_value(self, value: T) -> ConfigOption[T]:
            """Finish the option, with a default."""
            return ConfigOption(replace(self._option, default=value))

        def no_default_value(self) -> ConfigOption[str]:
            """Finish the option, without a default."""
            return ConfigOption(self._option)


class ConfigOption(Generic[T]):
    """The description of an option, made with ``ConfigOptions``.

    Args:
        j_config_option: this package's description of it.
    """

    def __init__(self, j_config_option: Any) -> None:
        self._option: Option[Any] = own_handle(j_config_option, Option, "ConfigOption(...)")


__getattr__ = missing_name(__name__)
