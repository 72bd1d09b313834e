"""The error for a name that a module does not define."""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from pyflink_on_spark._compat.accidental_names import accidental_name


def missing_name(module: str, reason: str = "") -> Callable[[str], Any]:
    """Return a module's ``__getattr__``.

    It finds what PyFlink's module has by accident. Of other names it raises ImportError in
    ``from module import name``, since Python would replace the text of an AttributeError there,
    and AttributeError otherwise. A module may also call it in its own ``__getattr__``.

    Args:
        module: the module's ``__name__``.
        reason: why names are missing, in whole sentences, if there is one reason for all.
    """

    def __getattr__(name: str) -> Any:  # noqa: N807 - it becomes the module's
        try:
            return accidental_name(module, name)
        except LookupError:
            pass
        text = _text(module, name, reason)
        if not name.startswith("__") and _is_import(sys._getframe(1)):
            raise ImportError(text, name=module)
        raise AttributeError(text, name=name, obj=sys.modules.get(module))

    return __getattr__


def _is_import(frame: Any) -> bool:
    while frame.f_code.co_name == "__getattr__":
        frame = frame.f_back
    code = frame.f_code.co_code
    return bool(dis.opname[code[frame.f_lasti]] == "IMPORT_FROM")


def _text(module: str, name: str, reason: str) -> str:
    known = [n for n in dir(sys.modules.get(module)) if not n.startswith("_")]
    close = get_close_matches(name, known, n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    missing = f"{module.replace('pyflink_on_spark', 'pyflink', 1)} has no {name!r}"
    if reason:
        return f"{missing} in pyflink_on_spark. {reason}{hint}"
    return (
        f"{missing} in pyflink_on_spark: "
        f"it is missing in PyFlink too, or not supported on Spark yet.{hint}"
    )
