"""Limits of the work that a call may make, which the configuration of the job sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from pyflink_on_spark._options.own import MAX_TEXT_LENGTH, REGEX_TIMEOUT
from pyflink_on_spark._sql.codegen.program import Binding

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext


@dataclass(frozen=True)
class Limits:
    """The most that one call may take.

    Args:
        length: of a text that it makes, in characters.
        time: of the processor for a regular expression, in ms.
    """

    length: int = MAX_TEXT_LENGTH.default
    time: int = REGEX_TIMEOUT.default

    @classmethod
    def of(cls, configuration: Mapping[str, str]) -> Limits:
        """Read the limits of a job."""
        return cls(MAX_TEXT_LENGTH.read(configuration), REGEX_TIMEOUT.read(configuration))

    def check(self, length: int) -> None:
        """Refuse a text before it is made.

        Raises:
            ValueError: it has too many characters.
        """
        if length > self.length:
            raise ValueError(
                f"a function would make a text of {length:,} characters; "
                f"{MAX_TEXT_LENGTH.key} allows {self.length:,}"
            )


class Limited(Binding):
    """A binding that gives a function the limits of its job, as its first argument.

    Args:
        function: one of a module, so that it pickles by reference.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = function

    def load(self, context: OperatorContext | None) -> object:
        """Return the function of the other arguments; without a context, with default limits."""
        limits = Limits() if context is None else Limits.of(context.configuration)
        return partial(self._function, limits)
