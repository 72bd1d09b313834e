"""Message authentication: nobody without the secret can change, repeat or insert a frame."""

from __future__ import annotations

import hmac
import struct

TAG_BYTES = 16
_COUNT = struct.Struct(">Q")


class BadSeal(OSError):
    """A frame is not what the peer has sent; the connection cannot be used any more."""


class Seal:
    """Authenticates the frames of one direction of a connection, in their order.

    Args:
        key: secret, and of this direction of this connection only.
    """

    def __init__(self, key: bytes) -> None:
        self._start = hmac.new(key, digestmod="sha256")
        self._frames = 0

    def tag(self, head: bytes, content: bytes) -> bytes:
        """Return the tag of the next frame.

        Args:
            head: the beginning of the frame, of a fixed length.
            content: the rest.
        """
        found = self._start.copy()
        found.update(_COUNT.pack(self._frames) + head)
        found.update(content)
        self._frames += 1
        return found.digest()[:TAG_BYTES]

    def check(self, tag: bytes, head: bytes, content: bytes) -> None:
        """Check the next frame.

        Raises:
            BadSeal: its tag is another one.
        """
        if not hmac.compare_digest(tag, self.tag(head, content)):
            raise BadSeal("a frame was changed on its way")
