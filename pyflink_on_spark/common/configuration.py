"""The configuration: the one place where options are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self, TypeVar

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._options.option import (
    Option,
    double_text,
    option_text,
    parse_boolean,
    parse_bytes,
    parse_double,
    parse_long,
    parse_python_yaml,
    parsed,
)
from pyflink_on_spark._options.registry import note_option
from pyflink_on_spark._options.secrets import HIDDEN, is_secret

__all__ = ["Configuration"]

T = TypeVar("T")

_STORABLE = (str, bool, int, float, bytes, bytearray, list, dict)


class Configuration:
    """Options by their keys.

    Args:
        other: a configuration to copy, or None.
        j_configuration: another configuration to share: what is set in one is set in both.

    Example:
        >>> configuration = Configuration().set_string("parallelism.default", "4")
        >>> configuration.get_integer("parallelism.default", 1)
        4
    """

    @classmethod
    def from_dict(cls, map: dict[str, str]) -> Configuration:
        """Make a configuration of a dict of texts.

        Raises:
            TypeError: a key or a value is not a str.
        """
        configuration = Configuration()
        for key, value in map.items():
            configuration._values[_key(key)] = _typed(value, str, "Configuration.from_dict(map)")
        return configuration

    def __init__(self, other: Configuration | None = None, j_configuration: object = None) -> None:
        self._values: dict[str, Any]
        if j_configuration is not None:
            call = "Configuration(j_configuration=...)"
            self._values = own_handle(j_configuration, Configuration, call)._values
        elif other is not None:
            self._values = dict(own_handle(other, Configuration, "Configuration(other)")._values)
        else:
            self._values = {}

    def get_string(self, key: str, default_value: str) -> str:
        """Return the text of an option, or the default when it is not set."""
        return self._get(key, default_value, option_text)

    def set_string(self, key: str, value: str) -> Configuration:
        """Set an option to a text.

        Raises:
            TypeError: the value is not a str.

        On Spark: ``pipeline.jars`` and ``pipeline.classpaths`` are recorded, and no jar is loaded.
        """
        self._values[_key(key)] = _typed(value, str, "Configuration.set_string(key, value)")
        return self

    @staticmethod
    def parse_list_value(value: str) -> list[Any]:
        """Read a list that was written as ``[a, b]``, or with one ``- a`` a line, or as ``a;b``.

        Raises:
            ruamel.yaml.error.YAMLError: the text is not valid YAML.
        """
        if not value:
            return []
        parsed = parse_python_yaml(value)
        return parsed if isinstance(parsed, list) else value.split(";")

    def get_integer(self, key: str, default_value: int) -> int:
        """Return the whole number of an option, or the default when it is not set.

        Raises:
            ValueError: the option holds something else.
        """
        return self._get(key, default_value, parse_long)

    def set_integer(self, key: str, value: int) -> Configuration:
        """Set an option to a whole number of 64 bits."""
        return self._set(key, value)

    def get_boolean(self, key: str, default_value: bool) -> bool:
        """Return the truth value of an option, or the default when it is not set.

        Raises:
            ValueError: the option holds something else than true or false.
        """
        return self._get(key, default_value, parse_boolean)

    def set_boolean(self, key: str, value: bool) -> Configuration:
        """Set an option to true or false."""
        return self._set(key, value)

    def get_float(self, key: str, default_value: float) -> float:
        """Return the number of an option, or the default when it is not set.

        Raises:
            ValueError: the option holds something else.
        """
        return self._get(key, float(default_value), parse_double)

    def set_float(self, key: str, value: float) -> Configuration:
        """Set an option to a number."""
        return self._set(key, float(value))

    def get_bytearray(self, key: str, default_value: bytearray) -> bytearray:
        """Return the bytes of an option, or the default when it is not set.

        Raises:
            ValueError: the option was not set with ``set_bytearray``.
        """
        return bytearray(self._get(key, default_value, parse_bytes))

    def set_bytearray(self, key: str, value: bytearray) -> Configuration:
        """Set an option to bytes."""
        call = "Configuration.set_bytearray(key, value)"
        self._values[_key(key)] = bytes(_typed(value, (bytes, bytearray), call))
        return self

    def key_set(self) -> set[str]:
        """Return the keys of all options that are set."""
        return set(self._values)

    def add_all_to_dict(self, target_dict: dict[str, Any]) -> None:
        """Put all options into a dict, each with the type that it was set with."""
        target_dict.update(self._values)

    def add_all(self, other: Configuration, prefix: str | None = None) -> Configuration:
        """Set all options of another configuration in this one.

        Args:
            other: where the options come from.
            prefix: what to put before each key, or None.
        """
        values = own_handle(other, Configuration, "Configuration.add_all(other)")._values
        self._values.update({f"{prefix or ''}{key}": item for key, item in values.items()})
        return self

    def contains_key(self, key: str) -> bool:
        """True if the option is set."""
        return key in self._values

    def to_dict(self) -> dict[str, str]:
        """Return all options as texts."""
        return {key: option_text(value) for key, value in self._values.items()}

    def remove_config(self, key: str) -> bool:
        """Unset an option, and all whose keys begin with the key and a dot.

        Returns:
            Whether there was any.
        """
        doomed = [each for each in self._values if each == key or each.startswith(f"{key}.")]
        for each in doomed:
            del self._values[each]
        return bool(doomed)

    def __deepcopy__(self, memodict: object = None) -> Configuration:
        return Configuration(self)

    def __hash__(self) -> int:
        return hash(frozenset(self._values))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Configuration) and _typed_values(self) == _typed_values(other)

    def __str__(self) -> str:
        return "{" + ", ".join(f"{k}={v}" for k, v in self._without_secrets().items()) + "}"

    def _without_secrets(self) -> dict[str, str]:
        """Return all options as texts, those that are secret hidden."""
        return {key: _shown(key, value) for key, value in self._values.items()}

    def _get(self, key: str, default: T, parse: Callable[[Any], T]) -> T:
        if _key(key) not in self._values:
            return default
        return parsed(key, self._values[key], parse)

    def _set(self, key: str, value: object) -> Configuration:
        if not isinstance(value, _STORABLE):
            raise TypeError(f"the value of the option {key!r} must not be {value!r}")
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise OverflowError(f"{value} does not fit into 64 bits, as the option {key!r} must")
        self._values[_key(key)] = value
        return self


def _key(key: Any) -> str:
    return _typed(key, str, "a key of a Configuration:")


def _typed(value: Any, kind: Any, call: str) -> Any:
    if not isinstance(value, kind):
        names = " or ".join(k.__name__ for k in (kind if isinstance(kind, tuple) else (kind,)))
        raise TypeError(f"{call} takes {names}, not {type(value).__name__}")
    return value


def values_of(configuration: Configuration) -> dict[str, Any]:
    """The values of a configuration by their keys: options read them and write them."""
    return configuration._values


def _typed_values(configuration: Configuration) -> dict[str, tuple[type, object]]:
    return {key: (type(value), value) for key, value in values_of(configuration).items()}


def _shown(key: str, value: object) -> str:
    if is_secret(key):
        return HIDDEN
    return double_text(value) if isinstance(value, float) else option_text(value)


__getattr__ = missing_name(__name__)


class OptionsView:
    """Reads and writes options of a configuration.

    Args:
        configuration: where the values are.
    """

    _checked: ClassVar[tuple[Option[Any], ...]]
    """The options that ``configure`` looks at."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration

    @classmethod
    def _check(cls, configuration: Configuration) -> None:
        """Raise ValueError if an option that ``configure`` looks at has an impossible value."""
        for option in cls._checked:
            option.read(values_of(configuration))

    def _read(self, option: Option[Any]) -> Any:
        return option.read(values_of(self._configuration))

    def _write(self, option: Option[Any], value: object) -> Self:
        option.write(values_of(self._configuration), value)
        note_option(values_of(self._configuration), option)
        return self
