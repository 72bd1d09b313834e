"""Prints the error that ended a script, as Python does."""

from __future__ import annotations

import sys
import traceback
from types import TracebackType

from pyflink_on_spark._compat.errors import CheckpointError, EnvironmentSetupError
from pyflink_on_spark._compat.own_frames import says_enough, shorten_causes, without_own_frames

_NOT_OF_THE_SCRIPT = (CheckpointError, EnvironmentSetupError)


def tell_error(error: Exception, script: str) -> None:
    """Print the error that ended a script.

    If its text says enough, that is only what a user can do something about.

    Args:
        error: the error.
        script: the script's path, as it was run.
    """
    told = traceback.TracebackException.from_exception(error)
    enough = says_enough(error, told)
    if enough:
        shorten_causes(error, told)
    trace = None
    if not (isinstance(error, SyntaxError) and error.filename == script):
        trace = _from_script_on(error.__traceback__, script, without_package=enough)
    if isinstance(error, _NOT_OF_THE_SCRIPT) and error.__cause__ is None and trace is not None:
        place = traceback.extract_tb(trace)[-1]
        print(f"{place.filename}, line {place.lineno}: {error}", file=sys.stderr)
        return
    sys.excepthook(type(error), error.with_traceback(trace), trace)


def _from_script_on(
    trace: TracebackType | None, script: str, without_package: bool
) -> TracebackType | None:
    """Return the part of a traceback that begins in the script; all of it if it never got there.

    Args:
        trace: the traceback.
        script: the script's path.
        without_package: whether to leave out this package's own frames.
    """
    frames = []
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    files = [frame.tb_frame.f_code.co_filename for frame in frames]
    begin = files.index(script) if script in files else 0
    for frame in reversed(frames[begin:]):
        frame.tb_next, trace = trace, frame
    return without_own_frames(trace) if without_package else trace
