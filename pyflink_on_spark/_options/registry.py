"""All options that are declared, and the search among them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

from pyflink_on_spark._options import (
    checkpointing,
    execution,
    file_systems,
    network,
    operation,
    own,
    pipeline,
    python,
    restart_strategy,
    state,
    table,
)
from pyflink_on_spark._options.option import Option, OptionPrefix

MODULES: tuple[ModuleType, ...] = (
    execution,
    pipeline,
    checkpointing,
    state,
    restart_strategy,
    python,
    file_systems,
    network,
    table,
    operation,
    own,
)


def declared(module: ModuleType) -> Iterator[Option[Any] | OptionPrefix]:
    """Yield the options of a module, in the order in which they are declared."""
    for value in vars(module).values():
        if isinstance(value, Option | OptionPrefix):
            yield value


def options_of(module: ModuleType) -> list[Option[Any]]:
    """Return the options of a module whose keys are fixed."""
    return [option for option in declared(module) if isinstance(option, Option)]


OPTIONS = tuple(option for module in MODULES for option in options_of(module))
_BY_KEY = {key: option for option in OPTIONS for key in option.keys}
_SPREAD = tuple(option for option in OPTIONS if option.spread)
_PREFIXES = tuple(
    option for module in MODULES for option in declared(module) if isinstance(option, OptionPrefix)
)


def find_option(key: str) -> Option[Any] | OptionPrefix | None:
    """Return the option that a key of a configuration belongs to; None if it is not declared."""
    if key in _BY_KEY:
        return _BY_KEY[key]
    for option in _SPREAD:
        if key.startswith(f"{option.key}."):
            return option
    return next((option for option in _PREFIXES if key.startswith(option.prefix)), None)


def closest_key(key: str) -> str | None:
    """Return the declared key that a misspelled one most probably stands for."""
    return next(iter(difflib.get_close_matches(key, _BY_KEY, n=1, cutoff=0.85)), None)


def check_own_keys(keys: Iterable[str]) -> None:
    """Raise if a key is one of this package's, but there is no such option.

    Raises:
        ValueError: it names the key, and what it may be meant for.
    """
    for key in sorted(keys):
        if key.replace("_", "-").startswith(own.PREFIX) and find_option(key) is None:
            known = [option.key for option in options_of(own)]
            meant = difflib.get_close_matches(key, known, n=1, cutoff=0)[0]
            raise ValueError(
                f"There is no option {key!r}. Did you mean {meant!r}? "
                f"The options that begin with {own.PREFIX!r} are {', '.join(known)}."
            )
