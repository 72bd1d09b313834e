"""Which options hold secrets, and what is shown of those."""

from __future__ import annotations

HIDDEN = "******"
"""What is shown in place of a secret."""

_PARTS_OF_KEYS = (
    "password",
    "secret",
    "fs.azure.account.key",
    "apikey",
    "api-key",
    "auth-params",
    "service-key",
    "token",
    "basic-auth",
    "jaas.config",
    "http-headers",
)


def is_secret(key: str) -> bool:
    """Tell by an option's key whether its value is a secret."""
    lowered = key.lower()
    return any(part in lowered for part in _PARTS_OF_KEYS)
