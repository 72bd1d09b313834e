"""Settings that are a view of the options of a configuration."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from pyflink_on_spark._options.option import Option
from pyflink_on_spark._options.registry import note_option
from pyflink_on_spark.common.configuration import Configuration, values_of


class OptionsView:
    """Reads and writes options of a configuration.

    Args:
        configuration: where the values are.
    """

    _checked: ClassVar[tuple[Option[Any], ...]]
    """The options that ``configure`` looks at."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration

    def _check(self) -> None:
        """Raise ValueError if an option that ``configure`` looks at has an impossible value."""
        for option in self._checked:
            self._read(option)

    def _read(self, option: Option[Any]) -> Any:
        return option.read(values_of(self._configuration))

    def _write(self, option: Option[Any], value: object) -> Self:
        option.write(values_of(self._configuration), value)
        note_option(values_of(self._configuration), option)
        return self
