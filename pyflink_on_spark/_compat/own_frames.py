"""The frames of a traceback that belong to this package, and are hidden from users."""

from __future__ import annotations

import os
import sysconfig
from traceback import StackSummary, TracebackException
from types import TracebackType

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
    """Return a traceback without the frames of this package.

    Args:
        trace: the traceback, whose entries are linked again.
    """
    kept = []
    while trace is not None:
        if not is_own(trace.tb_frame.f_code.co_filename):
            kept.append(trace)
        trace = trace.tb_next
    for frame in reversed(kept):
        frame.tb_next, trace = trace, frame
    return trace


def says_enough(error: BaseException, told: TracebackException) -> bool:
    """True for an error whose text suffices without the frames of this package."""
    return isinstance(error, PyFlinkOnSparkError) or raised_on_purpose(told.stack)


def users_frames(stack: StackSummary) -> StackSummary:
    """Return the frames of neither this package nor any other that is installed."""
    return StackSummary.from_list([frame for frame in stack if _is_users(frame.filename)])


def _is_users(file: str) -> bool:
    if is_own(file) or file.startswith(_STANDARD_LIBRARY):
        return False
    return not any(folder in file for folder in _INSTALLED)


def forget_causes(error: TracebackException) -> None:
    """Leave the causes of an error out if no frame of a user's is in them."""
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
