"""Logs, once each, the settings of a configuration that have no effect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyflink_on_spark._compat.recorded import note_recorded
from pyflink_on_spark._options.families import family_reason
from pyflink_on_spark._options.option import Option
from pyflink_on_spark._options.registry import OPTIONS, closest_key, find_option


def note_without_effect(values: Mapping[str, Any]) -> None:
    """Log once for each setting of a configuration that it has no effect.

    Args:
        values: the configuration's keys and values.

    Raises:
        ValueError: an option has a value that it cannot have.
    """
    for key in sorted(values):
        option = find_option(key)
        if isinstance(option, Option):
            note_option(values, option)
        elif option is None and (reason := family_reason(key)) is not None:
            meant = closest_key(key)
            note_recorded(f"The option {key}", f"{reason}; is {meant} meant?" if meant else reason)


def note_option(values: Mapping[str, Any], option: Option[Any]) -> None:
    """Log once if an option of a configuration is set to a value that has no effect.

    Args:
        values: the configuration's keys and values.
        option: what to look at.

    Raises:
        ValueError: the option has a value that it cannot have.
    """
    effect = option.effect
    if effect.recorded and _changed(values, option) and option.read(values) not in effect.harmless:
        note_recorded(f"The option {option.key_in(values) or option.key}", effect.text)


def note_unmet_needs(values: Mapping[str, Any], needed: Option[Any]) -> None:
    """Log once for each setting that has no effect because another option is not set.

    Args:
        values: the configuration's keys and values.
        needed: the option that they need.

    Raises:
        ValueError: an option has a value that it cannot have.
    """
    if needed.is_set(values):
        return
    for option in OPTIONS:
        if option.effect.needs is needed and _changed(values, option):
            note_recorded(
                f"The option {option.key_in(values)}", f"{option.effect.text}; set {needed.key}"
            )


def _changed(values: Mapping[str, Any], option: Option[Any]) -> bool:
    return option.is_set(values) and option.read(values) != option.default
