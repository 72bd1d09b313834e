"""Whether the machine at the other end of a connection is still there, as TCP knows it."""

from __future__ import annotations

import socket
import struct

_TCP_INFO = getattr(socket, "TCP_INFO", None)  # Linux only
_FIELDS = struct.Struct("8B13I")
_UNACKNOWLEDGED, _LAST_ACKNOWLEDGEMENT = 12, 20
_LONGEST_SLICE = 2.0


def unanswered(connection: socket.socket) -> float:
    """Return for how long nothing has come for what was sent, in s; 0 if nothing is due.

    The system acknowledges what arrives, however busy the process is that it is for. A receiver
    whose buffers are full owes nothing. Where the system does not say, the result is always 0.
    """
    if _TCP_INFO is None:
        return 0.0
    info = connection.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, _FIELDS.size)
    if len(info) < _FIELDS.size:
        return 0.0
    fields = _FIELDS.unpack(info)
    milliseconds: int = fields[_LAST_ACKNOWLEDGEMENT] if fields[_UNACKNOWLEDGED] else 0
    return milliseconds / 1000


class Silence:
    """How long a peer has owed an answer, from looks that may be far apart.

    Without data under way a connection that is cut off looks like one that is quiet. TCP itself
    closes the connection only a quarter of an hour after something was sent.
    """

    def __init__(self) -> None:
        self._owed, self._last = 0.0, 0.0

    def look(self, unanswered: float, now: float) -> float:
        """Take what TCP says, and return how long the silence is that is certain, in s.

        A process that was suspended has waited for no longer than a slice of the time: what is due
        now may have been sent a moment ago.

        Args:
            unanswered: see the function of this name.
            now: the time, in s.
        """
        passed, self._last = now - self._last, now
        if unanswered < passed:
            self._owed = 0.0
            return 0.0
        self._owed += min(passed, _LONGEST_SLICE)
        return min(self._owed, unanswered)
