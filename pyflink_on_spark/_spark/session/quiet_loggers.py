"""Keeps the libraries between this package and Spark's JVM out of a script's log."""

from __future__ import annotations

import logging
import socket
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark import SparkContext

_LIBRARIES = ("py4j", "pyspark")
_RAISED_TOO = "while sending command."


def quiet_libraries() -> None:
    """Let Spark's Python libraries log warnings only, unless the script has set their levels.

    At INFO they log each call from the JVM, in every script that logs at INFO itself. Errors of a
    call to the JVM are raised; py4j logs them with their traceback too, which says nothing more.
    """
    for library in _LIBRARIES:
        logger = logging.getLogger(library)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.WARNING)
    from py4j import java_gateway

    # The functions of ``logging`` that py4j calls would configure the root logger for the script.
    java_gateway.logging = java_gateway.logger
    java_gateway.logger.addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    return not str(record.msg).endswith(_RAISED_TOO)


def quiet_accumulators(context: SparkContext) -> None:
    """Let PySpark's server of accumulators print no traceback when Spark's JVM ends first.

    A signal to all processes of a job may end the JVM before the driver, also while it connects.
    """
    # PySpark has no public way to this server.
    server: Any = getattr(context, "_accumulatorServer", None)
    if server is None:
        return
    print_error = server.handle_error

    def handle_error(request: socket.socket, address: Any) -> None:
        if not isinstance(sys.exception(), (EOFError, ConnectionError)) and not _is_over(request):
            print_error(request, address)

    server.handle_error = handle_error


def _is_over(connection: socket.socket) -> bool:
    """Whether the other end has closed a connection."""
    try:
        return not connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True
