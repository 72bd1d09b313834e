"""Packages that only those who use a connector need."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType


def optional_package(module: str, package: str, purpose: str, extra: str) -> ModuleType:
    """Import a module that comes with an extra of this package.

    Args:
        module: the module.
        package: the package that has it.
        purpose: what needs it, as the beginning of a sentence.
        extra: the extra.

    Raises:
        ModuleNotFoundError: it is not installed; says how to install it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{purpose} need the package {package}: pip install 'pyflink_on_spark[{extra}]'",
            name=error.name,
        ) from None
