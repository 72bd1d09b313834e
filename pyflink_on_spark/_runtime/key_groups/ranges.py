"""Key groups and subtasks: a subtask has a range of key groups."""

from __future__ import annotations

DEFAULT_LEAST = 128
MOST = 32768


def default_max_parallelism(parallelism: int) -> int:
    """Return the number of key groups of an operator for which the user has set none."""
    power = 1 << (parallelism + parallelism // 2 - 1).bit_length()
    return min(max(power, DEFAULT_LEAST), MOST)


def subtask_of_key_group(group: int, max_parallelism: int, parallelism: int) -> int:
    """Return the index of the subtask that owns a key group."""
    return group * parallelism // max_parallelism


def key_groups_of(index: int, parallelism: int, max_parallelism: int) -> range:
    """Return the key groups that a subtask owns."""
    first = -(-index * max_parallelism // parallelism)
    end = -(-(index + 1) * max_parallelism // parallelism)
    return range(first, end)
