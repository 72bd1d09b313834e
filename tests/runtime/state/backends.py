"""Keyed state for tests: in memory or on disk, as a fixture says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pyflink_on_spark._runtime.state import disk
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.state.disk import DiskSettings
from tests.runtime.harness import FakeClock

NO_MEMORY = DiskSettings(memory=0)
_on_disk = False


def new_backend(clock: Any = None, **settings: Any) -> KeyedStateBackend:
    """Return a backend of the kind in use."""
    store = disk.DiskStore(NO_MEMORY) if _on_disk else None
    return KeyedStateBackend(clock or FakeClock(), **settings, disk=store)


@contextmanager
def kept(on_disk: bool) -> Iterator[None]:
    """Choose a kind; on disk, next to nothing stays in memory."""
    global _on_disk  # noqa: PLW0603
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk, "_SMALLEST_GENERATION", 2)
        _on_disk = on_disk
        yield
        _on_disk = False
