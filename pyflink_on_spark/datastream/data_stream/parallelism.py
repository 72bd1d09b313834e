"""The parallelism that a program may set for an operator."""

from __future__ import annotations

from pyflink_on_spark.common import ExecutionConfig

_LARGEST = 32768


def checked_parallelism(parallelism: int, parallel: bool = True) -> int | None:
    """Return an operator's parallelism; None for the environment's.

    Args:
        parallelism: from 1, or ``ExecutionConfig.PARALLELISM_DEFAULT`` for the environment's.
        parallel: whether the operator can have more than one subtask.

    Raises:
        TypeError: it is no int.
        ValueError: it is another number, or more than 1 where there can be only one subtask.
    """
    default = _int(parallelism, "parallelism") == ExecutionConfig.PARALLELISM_DEFAULT
    if parallelism < 1 and not default:
        raise ValueError(
            "The parallelism of an operator must be at least 1, or "
            f"ExecutionConfig.PARALLELISM_DEFAULT (the environment's), not {parallelism}."
        )
    if parallelism != 1 and not parallel:
        raise ValueError("The parallelism of non parallel operator must be 1.")
    return None if default else parallelism


def checked_max_parallelism(max_parallelism: int) -> int:
    """Return an operator's number of key groups.

    Raises:
        TypeError: it is no int.
        ValueError: it is not from 1 to 32768.
    """
    if not 0 < _int(max_parallelism, "maximum parallelism") <= _LARGEST:
        raise ValueError(
            f"The maximum parallelism must be from 1 to {_LARGEST}, not {max_parallelism}."
        )
    return max_parallelism


def _int(value: int, what: str) -> int:
    if type(value) is not int:
        raise TypeError(f"The {what} must be an int, not {value!r}.")
    return value
