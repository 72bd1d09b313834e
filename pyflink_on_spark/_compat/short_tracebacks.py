"""Cuts tracebacks to the user's frames where the text of an error says enough."""

from __future__ import annotations

import sys
import traceback
from types import TracebackType
from typing import Any

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._compat.own_frames import forget_causes, says_enough, without_own_frames


def install_short_tracebacks() -> None:
    """Let the interpreter, or the notebook, show errors of this package without its frames.

    A hook that the program has set itself stays.
    """
    shell = _notebook()
    if shell is not None:
        shell.set_custom_exc((PyFlinkOnSparkError,), _show_in_notebook)
    elif sys.excepthook is sys.__excepthook__:
        sys.excepthook = _show


def cut(error: BaseException) -> TracebackType | None:
    """Return the traceback to show; the causes of the error are dropped if they say nothing.

    Args:
        error: the error that ended a program.
    """
    told = traceback.TracebackException.from_exception(error)
    if not says_enough(error, told):
        return error.__traceback__
    forget_causes(told)
    if told.__cause__ is None and told.__context__ is None:
        error.__cause__ = error.__context__ = None
    return without_own_frames(error.__traceback__)


def _show(kind: type[BaseException], error: BaseException, _trace: TracebackType | None) -> None:
    kept = cut(error)
    sys.__excepthook__(kind, error.with_traceback(kept), kept)


def _show_in_notebook(
    shell: Any, kind: type[BaseException], error: BaseException, _trace: Any, tb_offset: Any = None
) -> None:
    kept = cut(error)
    shell.showtraceback((kind, error.with_traceback(kept), kept), tb_offset=tb_offset)


def _notebook() -> Any:
    """Return the shell of IPython that this program runs in, or None."""
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()
