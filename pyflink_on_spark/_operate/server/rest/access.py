"""Who may send requests over the network."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

_SCHEME = "Bearer "


@dataclass(frozen=True)
class Access:
    """The rule of one server.

    A browser sends requests for any page that it shows. So a request that a page of another place
    sends is refused, and so is one under a name that an attacker's name server has given to this
    machine.

    Args:
        token: what a client has to know; None if everybody on this machine may ask.
    """

    token: str | None

    def refusal(self, headers: Mapping[str, str]) -> str | None:
        """Return why a request is refused; None if it is not.

        Args:
            headers: the request's.
        """
        known = {name.lower(): value for name, value in headers.items()}
        host = known.get("host", "")
        origin = known.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return f"Requests of the page {origin} are refused."
        if self.token is None:
            return None if is_loopback(_name(host)) else f"This server is not called {host}."
        given = known.get("authorization", "")
        right = given.startswith(_SCHEME) and hmac.compare_digest(
            given.removeprefix(_SCHEME).encode(), self.token.encode()
        )
        return None if right else "The token is wrong: send 'Authorization: Bearer TOKEN'."


def is_loopback(host: str) -> bool:
    """Return whether an address or name means this machine, and nobody else can reach it."""
    if host in {"", "localhost"}:
        return host == "localhost"
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _name(host: str) -> str:
    """Return a host without its port."""
    return urlsplit(f"//{host}").hostname or ""
