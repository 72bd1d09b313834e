"""What lies behind a file system of fsspec's, and does not end by itself."""

from __future__ import annotations

import contextlib
import os
import threading
from typing import Any


class SshSession:
    """The SSH session of fsspec's SFTP; a thread of paramiko's keeps it until it is closed.

    Args:
        fs: fsspec's file system.
    """

    def __init__(self, fs: Any) -> None:
        self._client = fs.client
        self._transport, self._channel = fs.client.get_transport(), fs.ftp.get_channel()

    @property
    def lives(self) -> bool:
        """Whether it is open at both ends, as far as is known."""
        return bool(self._transport.is_active()) and not self._channel.closed

    def close(self) -> None:
        """End it."""
        self._client.close()


class SessionUse:
    """A session, and what still needs it: it ends with the last of them.

    Any thread may close a file, so this is for all threads.

    Args:
        session: which is to end; None if there is nothing to end.
    """

    def __init__(self, session: SshSession | None) -> None:
        self._session, self._process = session, os.getpid()
        self._lock = threading.Lock()
        self._users = 1  # the thread that connected

    @property
    def lives(self) -> bool:
        """Whether the session is known to be open."""
        return self._session is not None and self._session.lives

    def add(self) -> None:
        """Note that an open file needs it too."""
        with self._lock:
            self._users += 1

    def release(self) -> None:
        """Note that a file is closed, or that the thread does without it."""
        if self._process != os.getpid():  # after a fork it is the parent's
            return
        with self._lock:
            self._users -= 1
            if self._users:
                return
            session, self._session = self._session, None
        if session is not None:
            with contextlib.suppress(Exception):  # the server may be gone
                session.close()
