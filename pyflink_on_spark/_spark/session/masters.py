"""Spark's masters: which there can be, and whether one is there."""

from __future__ import annotations

import re
import socket

from pyflink_on_spark._compat.errors import EnvironmentSetupError

_KINDS = re.compile(r"local(?:-cluster)?(?:\[.*\])?|yarn|k8s://.+|spark://.+")
_ADDRESS = re.compile(r"(?:spark://)?(?P<host>.+):(?P<port>\d+)")
_SECONDS = 5.0


def check_master(master: str) -> None:
    """Make sure that there can be a Spark with this master.

    Spark would try for a minute to reach a standalone master.

    Args:
        master: for example ``local[4]`` or ``spark://host:7077``.

    Raises:
        EnvironmentSetupError: it is no master's URL, or nothing listens where it says.
    """
    if not _KINDS.fullmatch(master):
        raise EnvironmentSetupError(
            f"there is no Spark master {master!r}: it is local[4], spark://HOST:PORT, yarn or "
            "k8s://URL"
        )
    if not master.startswith("spark://"):
        return
    reasons = [_unreachable(address) for address in master.split(",")]
    if all(reasons):
        raise EnvironmentSetupError(f"no Spark master answers at {master}: {'; '.join(reasons)}")


def _unreachable(address: str) -> str:
    """Return why nothing can be reached at an address; an empty text if something listens."""
    found = _ADDRESS.fullmatch(address)
    if found is None:
        return f"{address} is not HOST:PORT"
    host = found["host"].strip("[]")
    try:
        socket.create_connection((host, int(found["port"])), _SECONDS).close()
    except (OSError, OverflowError) as error:
        return str(error)
    return ""
