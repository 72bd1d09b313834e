"""Parts of the package that lower layers use without importing them.

``pyflink_on_spark/__init__.py``, which is above all layers, registers what loads a part. So a layer
imports only what is below it, and loads nothing before it is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_loaders: dict[str, Callable[[], object]] = {}


def register(part: str, loader: Callable[[], object]) -> None:
    """Register what loads a part.

    Args:
        part: the name of the part.
        loader: returns the part; called whenever the part is needed.
    """
    _loaders[part] = loader


def load(part: str) -> Any:
    """Return a part."""
    return _loaders[part]()
