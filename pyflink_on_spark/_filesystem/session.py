"""Sessions of fsspec's file systems that do not end by themselves."""

from __future__ import annotations

import contextlib
import os
import threading
from typing import Any


class SshSession:
    """The SSH session of fsspec's SFTP. A thread of paramiko's keeps it open until ``close``.

    Args:
        fs: the file system of fsspec's.
    """

    def __init__(self, fs: Any) -> None:
        self._client = fs.client
        self._transport, self._channel = fs.client.get_transport(), fs.ftp.get_channel()

    @property
    def lives(self) -> bool:
        """True if the session is open, as far as is known."""
        return bool(self._transport.is_active()) and not self._channel.closed

    def close(self) -> None:
        """End the session."""
        self._client.close()


class SessionUse:
    """Counts the users of a session, which ends with its last user. Thread-safe.

    Args:
        session: the session, or None.
    """

    def __init__(self, session: SshSession | None) -> None:
        self._session, self._process = session, os.getpid()
        self._lock = threading.Lock()
        self._users = 1  # the thread that connected

    @property
    def lives(self) -> bool:
        """True if the session is known to be open."""
        return self._session is not None and self._session.lives

    def add(self) -> None:
        """Add an open file as a user."""
        with self._lock:
            self._users += 1

    def release(self) -> None:
        """Remove a user: a file is closed, or the thread does not need the session."""
        if self._process != os.getpid():  # after a fork the session belongs to the parent
            return
        with self._lock:
            self._users -= 1
            if self._users:
                return
            session, self._session = self._session, None
        if session is not None:
            with contextlib.suppress(Exception):  # the server may be unreachable
                session.close()
