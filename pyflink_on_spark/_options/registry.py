"""All options that are declared, the families of others, and the notes on those without effect."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

from pyflink_on_spark._compat.recorded import note_recorded
from pyflink_on_spark._options import checkpointing, flink, own, python
from pyflink_on_spark._options.checkpointing import ALIGNED, ONE_FILE, OTHER_DATABASE
from pyflink_on_spark._options.option import Option, OptionPrefix

MODULES: tuple[ModuleType, ...] = (flink, checkpointing, python, own)
_NOT_READ = "nothing here reads it"
_CLUSTER = "Spark runs the job; the options spark.* configure its cluster"


def declared(module: ModuleType) -> Iterator[Option[object] | OptionPrefix]:
    """Yield the options of a module, in the order in which they are declared."""
    for value in vars(module).values():
        if isinstance(value, Option | OptionPrefix):
            yield value


def options_of(module: ModuleType) -> list[Option[object]]:
    """Return the options of a module whose keys are fixed."""
    return [option for option in declared(module) if isinstance(option, Option)]


OPTIONS = tuple(option for module in MODULES for option in options_of(module))
_BY_KEY = {key: option for option in OPTIONS for key in option.keys}
_SPREAD = tuple(option for option in OPTIONS if option.spread)
_PREFIXES = tuple(
    option for module in MODULES for option in declared(module) if isinstance(option, OptionPrefix)
)


def find_option(key: str) -> Option[object] | OptionPrefix | None:
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


FAMILIES: dict[str, str] = {
    **dict.fromkeys(
        (
            "akka.",
            "blob.",
            "client.",
            "cluster.",
            "heartbeat.",
            "high-availability",
            "historyserver.",
            "jobmanager.",
            "jobstore.",
            "kubernetes.",
            "pekko.",
            "queryable-state.",
            "resourcemanager.",
            "rest.",
            "slot.",
            "slotmanager.",
            "taskmanager.",
            "web.",
            "yarn.",
            "zookeeper.",
        ),
        _CLUSTER,
    ),
    **dict.fromkeys(
        (
            "execution.",
            "fs.",
            "io.",
            "parallelism.",
            "pipeline.",
            "python.",
            "restart-strategy",
            "s3.",
            "s3a.",
            "state.",
            "table.",
            "task.",
        ),
        _NOT_READ,
    ),
    "classloader.": "no Java class of the job is loaded",
    "env.": "Spark starts the JVMs; see spark.driver.extraJavaOptions and spark.executor.*",
    "metrics.": "no metric reporter of Flink runs here",
    "security.": "Spark's options say how its processes authenticate",
    "execution.batch.": "Spark schedules the tasks of a batch job",
    "execution.checkpointing.file-merging.": ONE_FILE.text,
    "execution.checkpointing.unaligned.": ALIGNED.text,
    "state.backend.rocksdb.": OTHER_DATABASE.text,
    "state.backend.forst.": OTHER_DATABASE.text,
    "state.changelog.": "changes are written with each checkpoint, not between checkpoints",
    "state.latency-track.": "no latency of state is measured",
}
"""Why undeclared keys that begin with a prefix have no effect; the longest prefix counts."""


def family_reason(key: str) -> str | None:
    """Return why a key that is declared nowhere has no effect; None for keys that are not Flink's.

    Args:
        key: the key, as it is in a configuration.
    """
    prefixes = [prefix for prefix in FAMILIES if key.startswith(prefix)]
    return FAMILIES[max(prefixes, key=len)] if prefixes else None


def note_without_effect(values: Mapping[str, object]) -> None:
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


def note_option(values: Mapping[str, object], option: Option[Any]) -> None:
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


def note_unmet_needs(values: Mapping[str, object], needed: Option[Any]) -> None:
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


def _changed(values: Mapping[str, object], option: Option[object]) -> bool:
    return option.is_set(values) and option.read(values) != option.default
