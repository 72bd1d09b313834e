"""Frames of tracebacks: those of the user's call, and those of this package, which are hidden."""

from __future__ import annotations

import os
import sys
import sysconfig
import traceback
from dataclasses import dataclass
from traceback import StackSummary, TracebackException
from types import TracebackType
from typing import Any

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError

_COMPILED = "<pyflink_on_spark "
_STANDARD_LIBRARY = ("<frozen ", sysconfig.get_path("stdlib") + os.sep)
_INSTALLED = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))


def compiled_file(what: str) -> str:
    """Return the file name of code that this package compiles while it runs."""
    return f"{_COMPILED}{what}>"


def is_own(file: str) -> bool:
    """True for the file of a frame of this package."""
    return file.startswith((_PACKAGE_FOLDER, _COMPILED))


# Code that was compiled elsewhere and shipped names the files of that machine.
_PACKAGE_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(is_own.__code__.co_filename)))
_PACKAGE_FOLDER += os.sep


def raised_on_purpose(stack: StackSummary) -> bool:
    """True if this package has raised an error itself, so that the error's text suffices."""
    if not stack:
        return False
    innermost = stack[-1]
    return is_own(innermost.filename) and (innermost.line or "").startswith("raise ")


def without_own_frames(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames of this package and of standard modules it calls.

    Args:
        trace: the traceback; its entries are linked to each other, in place.
    """
    kept, within = [], False
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        within = is_own(file) or (within and _is_standard(file))
        if not within:
            kept.append(trace)
        trace = trace.tb_next
    for frame in reversed(kept):
        frame.tb_next, trace = trace, frame
    return trace


def says_enough(error: BaseException, told: TracebackException) -> bool:
    """True for an error whose text suffices without the frames of this package."""
    return isinstance(error, PyFlinkOnSparkError) or raised_on_purpose(told.stack)


def users_frames(stack: StackSummary) -> StackSummary:
    """Return the frames of the user's code: of no installed package and not of this one."""
    return StackSummary.from_list([frame for frame in stack if _is_users(frame.filename)])


def _is_users(file: str) -> bool:
    return not (is_own(file) or _is_standard(file) or _is_installed(file))


def _is_standard(file: str) -> bool:
    return file.startswith(_STANDARD_LIBRARY) and not _is_installed(file)


def _is_installed(file: str) -> bool:
    return any(folder in file for folder in _INSTALLED)


def forget_causes(error: TracebackException) -> None:
    """Drop the causes of an error if none of them has a frame of the user's code."""
    part = error.__cause__ or error.__context__
    while part is not None:
        if users_frames(part.stack):
            return
        part = part.__cause__ or part.__context__
    error.__cause__ = error.__context__ = None


def user_traceback(error: BaseException, all_frames: bool = True) -> str:
    """Return the traceback without this package's own frames.

    Args:
        error: what was raised.
        all_frames: whether an error that has no other frames keeps them, unless it was raised on
            purpose, with a message that says enough.
    """
    whole = TracebackException.from_exception(error)
    if raised_on_purpose(whole.stack):
        forget_causes(whole)
    part: TracebackException | None = whole
    while part is not None:
        part.stack = _telling_frames(part.stack, all_frames)
        part = part.__cause__ or part.__context__
    if not whole.stack and whole.__cause__ is None and whole.__context__ is None:
        return "".join(whole.format_exception_only())
    return "".join(whole.format())


def _telling_frames(stack: StackSummary, all_frames: bool) -> StackSummary:
    if raised_on_purpose(stack):
        return users_frames(stack)
    frames = [frame for frame in stack if not is_own(frame.filename)]
    return StackSummary.from_list(frames) if frames or not all_frames else stack


@dataclass(frozen=True)
class CallSite:
    """A place in the user's code: the file, the line from 1, and the function around it."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def capture_call_site() -> CallSite:
    """Return the innermost place on the stack outside this package and of no standard module."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_between(frame.f_code.co_filename):
        frame = frame.f_back
    return CallSite(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


def _is_between(file: str) -> bool:
    return is_own(file) or _is_standard(file)


def install_short_tracebacks() -> None:
    """Let the interpreter, or the notebook, show errors of this package without its frames.

    A hook that the program has set itself stays.
    """
    shell = _notebook()
    if shell is not None:
        if not shell.custom_exceptions:
            shell.set_custom_exc((Exception,), _show_in_notebook)
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
    shorten_causes(error, told)
    return without_own_frames(error.__traceback__)


def shorten_causes(error: BaseException, told: TracebackException) -> None:
    """Drop the causes of an error that say nothing, and the frames of this package in the others.

    Args:
        error: the error.
        told: the same error as it is printed; the same causes are dropped from it.
    """
    forget_causes(told)
    if told.__cause__ is None and told.__context__ is None:
        error.__cause__ = error.__context__ = None
    part = error.__cause__ or error.__context__
    while part is not None:
        part.__traceback__ = without_own_frames(part.__traceback__)
        part = part.__cause__ or part.__context__


def _show(kind: type[BaseException], error: BaseException, _trace: TracebackType | None) -> None:
    kept = cut(error)
    sys.__excepthook__(kind, error.with_traceback(kept), kept)


def _show_in_notebook(
    shell: Any,
    kind: type[BaseException],
    error: BaseException,
    _trace: object,
    tb_offset: object = None,
) -> None:
    kept = cut(error)
    shell.showtraceback((kind, error.with_traceback(kept), kept), tb_offset=tb_offset)


def _notebook() -> Any:
    """Return the shell of IPython that this program runs in, or None."""
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()
