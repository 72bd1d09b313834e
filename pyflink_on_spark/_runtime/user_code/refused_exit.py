"""Keeps a function from ending the process that it shares with others, without a word."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import NoReturn


@contextlib.contextmanager
def refused_exit() -> Iterator[None]:
    """Let ``os._exit`` raise SystemExit, so that the job's error says who called it.

    Processes that a function forks end as they want.
    """
    leave, worker = os._exit, os.getpid()

    def refuse(status: int) -> NoReturn:
        if os.getpid() == worker:
            raise SystemExit(f"os._exit({status}) was called, which would end the worker process")
        leave(status)

    os._exit = refuse
    try:
        yield
    finally:
        os._exit = leave
