"""The settings with which Spark was started."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from pyspark import SparkContext

_known: WeakKeyDictionary[SparkContext, Mapping[str, str]] = WeakKeyDictionary()


def application_settings(context: SparkContext) -> Mapping[str, str]:
    """Return the settings of an application, which are the same as long as it lives.

    PySpark copies them with hundreds of calls of Java, so each context is asked once.
    """
    found = _known.get(context)
    if found is None:
        found = _known[context] = dict(context.getConf().getAll())
    return found
