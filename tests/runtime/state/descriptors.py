"""State descriptors and time-to-live settings, as far as the runtime looks at them."""

from __future__ import annotations

from enum import Enum
from types import SimpleNamespace
from typing import Any


class Descriptor:
    def __init__(self, kind: str, name: str, function: Any = None, ttl: Any = None) -> None:
        self._kind, self._name, self._function = kind, name, function
        self._ttl_config = ttl
        self.type_info: Any = None

    def get_name(self) -> str:
        return self._name

    def get_reduce_function(self) -> Any:
        return self._function

    def get_agg_function(self) -> Any:
        return self._function


class Update(Enum):
    Disabled = 0
    OnCreateAndWrite = 1
    OnReadAndWrite = 2


class Visibility(Enum):
    ReturnExpiredIfNotCleanedUp = 0
    NeverReturnExpired = 1


def ttl(
    ms: int,
    update: Update = Update.OnCreateAndWrite,
    visibility: Visibility = Visibility.NeverReturnExpired,
    incremental: tuple[int, bool] | None = None,
    full_snapshot: bool = False,
    compaction: bool = False,
) -> Any:
    increments = incremental and SimpleNamespace(
        get_cleanup_size=lambda: incremental[0],
        run_cleanup_for_every_record=lambda: incremental[1],
    )
    strategies = SimpleNamespace(
        get_incremental_cleanup_strategy=lambda: increments,
        in_full_snapshot=lambda: full_snapshot,
        get_rocksdb_compact_filter_cleanup_strategy=lambda: object() if compaction else None,
    )
    return SimpleNamespace(
        is_enabled=lambda: update is not Update.Disabled,
        get_ttl=lambda: SimpleNamespace(to_milliseconds=lambda: ms),
        get_update_type=lambda: update,
        get_state_visibility=lambda: visibility,
        get_cleanup_strategies=lambda: strategies,
    )


class Adding:
    def reduce(self, first, second):
        return first + second


class Mean:
    def create_accumulator(self):
        return (0, 0)

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, first, second):
        return first[0] + second[0], first[1] + second[1]
