"""Stops and starts what a running job tells of itself, from outside.

Hosts have no option for it, because their reports are always there. A thread in each process of the
job waits for a word: it changes how often a host reports, or what the driver logs.
"""

from __future__ import annotations

import functools
import json
import logging
import math
import socket
import sys
import threading
import time

ON, OFF, COUNT = "on", "off", "count"


def follow_in_driver(port):
    """Follow the switch in the driver."""
    _follow(port, _Log())


@functools.cache
def follow_in_host(port):
    """Follow the switch in this host, which calls a function that calls this."""
    _follow(port, _Reports(_host()))


class _Log:
    kind = "driver"

    def turn(self, on):
        level = logging.INFO if on else logging.CRITICAL + 1
        logging.getLogger("pyflink_on_spark").setLevel(level)

    def count(self):
        return 0, 0


class _Reports:
    """The reports of a host, and how much of the processor they take."""

    kind = "host"

    def __init__(self, host):
        self._host, self._report = host, host._report
        self._module = sys.modules[type(host).__module__]
        self._seconds = self._module._REPORT_SECONDS
        self._spent = 0
        host._report = self._timed

    def turn(self, on):
        self._module._REPORT_SECONDS = self._seconds if on else math.inf
        if on:
            self._host._next_report = 0.0

    def count(self):
        parts = self._host._group.progress()
        first = parts[0].name
        return sum(part.records for part in parts if part.name == first), self._spent

    def _timed(self):
        before, began = self._host._told, time.thread_time_ns()
        self._report()
        if self._host._told is not before:
            self._spent += time.thread_time_ns() - began


def _host():
    from pyflink_on_spark._cluster.hosts.host import Host

    frame = sys._getframe()
    while frame is not None:
        if isinstance(frame.f_locals.get("self"), Host):
            return frame.f_locals["self"]
        frame = frame.f_back
    raise RuntimeError("this is not a host")


def _follow(port, what):
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(f"{what.kind}\n".encode())

    def obey():
        for word in connection.makefile("r"):
            if word.strip() != COUNT:
                what.turn(word.strip() == ON)
            connection.sendall(f"{json.dumps(what.count())}\n".encode())

    threading.Thread(target=obey, name="switch", daemon=True).start()


class Switches:
    """The processes that follow: a driver and its hosts."""

    def __init__(self):
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self._followers = []

    def wait_for(self, hosts, seconds):
        """Wait until the driver and the hosts follow.

        Raises:
            TimeoutError: they do not in time.
        """
        deadline = time.monotonic() + seconds
        wanted, kinds = sorted(["driver", *["host"] * hosts]), []
        while sorted(kinds) != wanted:
            self._server.settimeout(max(0.1, deadline - time.monotonic()))
            connection, _ = self._server.accept()
            connection.settimeout(20)
            follower = connection.makefile("rw")
            kinds.append(follower.readline().strip())
            self._followers.append(follower)

    def turn(self, on):
        """Have the job tell of itself, or not."""
        self._say(ON if on else OFF)

    def count(self):
        """Return how many records have come in, and the seconds that reports of hosts took."""
        records, spent = zip(*self._say(COUNT), strict=True)
        return sum(records), sum(spent) / 1e9

    def _say(self, word):
        for follower in self._followers:
            follower.write(f"{word}\n")
            follower.flush()
        return [json.loads(follower.readline()) for follower in self._followers]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._server.close()
        for follower in self._followers:
            follower.close()
