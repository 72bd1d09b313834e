"""Decorators that say in a docstring how stable a class or function is."""

from __future__ import annotations

import inspect
import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Iterator
from textwrap import dedent, fill, indent
from typing import Any, TypeVar

from pyflink_on_spark._compat.missing_names import missing_name

__all__ = ["Deprecated", "Experimental", "Internal", "PublicEvolving", "Public"]

T = TypeVar("T")

_MARKS = "__stability_decorators"


class BaseAPIStabilityDecorator(metaclass=ABCMeta):
    """A decorator that adds a notice to the docstrings of a class and its public members."""

    @abstractmethod
    def get_directive(self, func_or_cls: Any) -> str:
        """Return the notice, as a Sphinx directive."""

    def __call__(self, func_or_cls: T) -> T:
        """Add the notice, and return the class or function."""
        directive = self.get_directive(func_or_cls)
        for documented in (func_or_cls, *_public_members(func_or_cls)):
            text = dedent(documented.__doc__ or "")
            if directive not in text:
                documented.__doc__ = f"{text}\n{directive}"
        marks: frozenset[type] = getattr(func_or_cls, _MARKS, frozenset())
        setattr(func_or_cls, _MARKS, {*marks, type(self)})
        return func_or_cls


class Deprecated(BaseAPIStabilityDecorator):
    """Says that something should not be used any more, and warns where it is defined.

    Args:
        since: the version that deprecated it.
        detail: what to use in its place, or None.
    """

    def __init__(self, since: str, detail: str | None = None) -> None:
        self.since = since
        self.detail = detail

    def get_directive(self, func_or_cls: Any) -> str:
        """Return the notice, as a Sphinx directive."""
        directive = f".. deprecated:: {self.since}"
        return f"{directive}\n{indent(dedent(self.detail), '   ')}" if self.detail else directive

    def __call__(self, func_or_cls: T) -> T:
        """Warn, add the notice, and return the class or function."""
        name = func_or_cls.__qualname__  # type: ignore[attr-defined]
        message = f"{name} has been deprecated since version {self.since}."
        if self.detail is not None:
            message = f"{message} {self.detail}"
        warnings.warn(message, category=DeprecationWarning, stacklevel=2)
        return super().__call__(func_or_cls)


class Experimental(BaseAPIStabilityDecorator):
    """Says that something is new and may change or go away."""

    def get_directive(self, func_or_cls: Any) -> str:
        """Return the notice, as a Sphinx directive."""
        return _notice("warning", func_or_cls, "experimental", "It may change or go away.")


class Internal(BaseAPIStabilityDecorator):
    """Says that something public is meant for developers of Flink."""

    def get_directive(self, func_or_cls: Any) -> str:
        """Return the notice, as a Sphinx directive."""
        return _notice(
            "caution", func_or_cls, "internal", "It may change from one version to the next."
        )


class PublicEvolving(BaseAPIStabilityDecorator):
    """Says that something is for everyone, with an interface that may still change."""

    def get_directive(self, func_or_cls: Any) -> str:
        """Return the notice, as a Sphinx directive."""
        return _notice(
            "note", func_or_cls, "evolving", "Its behaviour is stable, its signature may change."
        )


class Public(BaseAPIStabilityDecorator):
    """Says that something is for everyone, and stable until the next major version."""

    def get_directive(self, func_or_cls: Any) -> str:
        """Return the notice, as a Sphinx directive."""
        return _notice("note", func_or_cls, "public", "It is stable across minor versions.")


def _public_members(owner: Any) -> Iterator[Any]:
    if not inspect.isclass(owner):
        return
    for name, member in inspect.getmembers(owner):
        if not name.startswith("_") and (
            inspect.isfunction(member) or isinstance(member, property)
        ):
            yield member


def _notice(kind: str, marked: Any, stability: str, meaning: str) -> str:
    what = "class" if inspect.isclass(marked) else "function"
    text = fill(f"This *{what}* is marked as **{stability}**. {meaning}", width=90)
    return f".. {kind}:: {indent(text, '   ').lstrip()}\n"


__getattr__ = missing_name(__name__)
