"""Machines that share this one's files and processes, but not its network (Linux, root).

Each machine is a network namespace with an address of its own. A bridge joins them and this one.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

_PREFIX = "pfs"
_MOST = 64
"""How many networks there may be at a time."""


class CannotMakeMachines(Exception):
    """This system lets nobody make network namespaces, or not this user; the text says why."""


@dataclass(frozen=True)
class Machine:
    """One machine.

    Args:
        name: of its namespace.
        address: its IP address.
        link: the end of its cable at the bridge.
    """

    name: str
    address: str
    link: str

    @property
    def inside(self) -> list[str]:
        """The command that runs the command after it on the machine."""
        return ["ip", "netns", "exec", self.name]

    def cut(self) -> None:
        """Pull the cable: nothing arrives and nothing leaves, and no connection ends."""
        _run("ip", "link", "set", self.link, "down")

    def mend(self) -> None:
        """Plug the cable in again."""
        _run("ip", "link", "set", self.link, "up")

    def slow(self, rate: str) -> None:
        """Let only so much pass in each direction (``1mbit``); a queue of half a second forms."""
        limit = ["root", "tbf", "rate", rate, "burst", "16kb", "latency", "500ms"]
        _run("tc", "qdisc", "add", "dev", self.link, *limit)
        _run(*self.inside, "tc", "qdisc", "add", "dev", "eth0", *limit)

    def lose(self, part: float) -> None:
        """Lose a part of the packets in each direction."""
        chance = ["-m", "statistic", "--mode", "random", "--probability", str(part), "-j", "DROP"]
        for chain in ("INPUT", "OUTPUT"):
            _run(*self.inside, "iptables", "-A", chain, *chance)

    def shun(self, other: Machine) -> None:
        """Neither hear nor answer another machine, while all others do."""
        _run(*self.inside, "iptables", "-A", "INPUT", "-s", other.address, "-j", "DROP")
        _run(*self.inside, "iptables", "-A", "OUTPUT", "-d", other.address, "-j", "DROP")

    def refuse(self, ports: str) -> None:
        """Let nobody on the machine call these ports of any other (``50100:50110``)."""
        rule = ["-p", "tcp", "--dport", ports, "-j", "REJECT"]
        _run(*self.inside, "iptables", "-A", "OUTPUT", *rule)

    def repair(self) -> None:
        """End whatever the other methods began."""
        self.mend()
        _run(*self.inside, "iptables", "-F")
        for at in ([], self.inside):
            device = "eth0" if at else self.link
            with contextlib.suppress(subprocess.CalledProcessError):  # there is none to delete
                _run(*at, "tc", "qdisc", "del", "dev", device, "root")

    def processes(self) -> list[int]:
        """Return the ids of the processes that run on the machine."""
        told = _run("ip", "netns", "pids", self.name)
        return [int(number) for number in told.split()]


@dataclass(frozen=True)
class Network:
    """Machines that are joined.

    Args:
        address: of this machine, as the others see it.
        machines: the others.
    """

    address: str
    machines: list[Machine]


@contextlib.contextmanager
def network(count: int) -> Iterator[Network]:
    """Make machines, and in the end remove them with all that runs on them.

    Raises:
        CannotMakeMachines: not here.
    """
    _require_tools()
    with contextlib.ExitStack() as undo:
        number, bridge = _bridge(undo)
        address = f"10.213.{number}.1"
        _run("ip", "address", "add", f"{address}/24", "dev", bridge)
        _run("ip", "link", "set", bridge, "up")
        machines = [_machine(bridge, number, which, undo) for which in range(1, count + 1)]
        yield Network(address, machines)


def _require_tools() -> None:
    if os.geteuid() != 0:
        raise CannotMakeMachines("only root can make network namespaces")
    if missing := [tool for tool in ("ip", "tc", "iptables") if shutil.which(tool) is None]:
        raise CannotMakeMachines(
            f"{', '.join(missing)} not found (Debian: apt-get install iproute2 iptables)"
        )


def _bridge(undo: contextlib.ExitStack) -> tuple[int, str]:
    """Make a bridge under a number that no other process has taken."""
    reason = ""
    for number in range(_MOST):
        bridge = f"{_PREFIX}{number}"
        try:
            _run("ip", "link", "add", bridge, "type", "bridge")
        except subprocess.CalledProcessError as error:
            reason = error.stderr.strip()
            if "exists" in reason:
                continue
            break
        undo.callback(_run, "ip", "link", "del", bridge)
        return number, bridge
    raise CannotMakeMachines(f"no bridge can be made here: {reason}")


def _machine(bridge: str, number: int, which: int, undo: contextlib.ExitStack) -> Machine:
    name = f"{bridge}m{which}"
    made = Machine(name, f"10.213.{number}.{which + 1}", f"{name}l")
    try:
        _run("ip", "netns", "add", name)
    except subprocess.CalledProcessError as error:
        reason = error.stderr.strip()
        raise CannotMakeMachines(f"no network namespace can be made here: {reason}") from error
    undo.callback(_remove, made)
    _run("ip", "link", "add", made.link, "type", "veth", "peer", "name", "eth0", "netns", name)
    _run("ip", "link", "set", made.link, "master", bridge, "up")
    _run(*made.inside, "ip", "address", "add", f"{made.address}/24", "dev", "eth0")
    for device in ("lo", "eth0"):
        _run(*made.inside, "ip", "link", "set", device, "up")
    return made


def _remove(machine: Machine) -> None:
    for number in machine.processes():
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    _run("ip", "netns", "del", machine.name)
    with contextlib.suppress(subprocess.CalledProcessError):  # it goes with its other end, later
        _run("ip", "link", "del", machine.link)


def _run(*command: str) -> str:
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout
