"""The options that hold secrets, and their texts for people."""

from __future__ import annotations

import re
from collections.abc import Mapping

HIDDEN = "******"
"""The text in place of a secret."""

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
_OTHER_PARTS = ("passwd", "pwd", "passphrase", "private-key", "private_key", "privatekey",
                "credential", "checkpoint-key", "access-key", "access_key", "accesskey",
                "api_key")  # fmt: skip
_HARMLESS_ENDS = (".provider", ".provider.type")
_USER_IN_URL = re.compile(r"(?<=://)[^/?#\s@]*:[^/?#\s]*(?=@)")
_NAMED_IN_TEXT = re.compile(
    r"(?i)(?<![\w-])([\w.-]*(?:password|passwd|pwd|secret|token|passphrase|apikey|api[_-]key)(?:[_.\d-][\w-]*)?)"
    r"(\s*=\s*)(\"[^\"]*\"|'[^']*'|[^&;,\s\"']+)"
)


def is_secret(key: str) -> bool:
    """True for the key of an option whose value Flink hides."""
    lowered = key.lower()
    return any(part in lowered for part in _PARTS_OF_KEYS)


def masked(key: str, value: str) -> str:
    """The text of an option for people: without the value of a secret, or the secrets in a value.

    Args:
        key: of the option, or of a user's parameter.
        value: its text.
    """
    lowered = key.lower()
    named = any(part in lowered for part in _OTHER_PARTS) and not lowered.endswith(_HARMLESS_ENDS)
    return HIDDEN if named or is_secret(key) else masked_text(value)


def all_masked(options: Mapping[str, str]) -> dict[str, str]:
    """The texts of some options for people."""
    return {key: masked(key, str(value)) for key, value in options.items()}


def masked_text(value: str) -> str:
    """A text without the passwords of its URLs, and of ``password=...`` and the like."""
    value = _USER_IN_URL.sub(HIDDEN, value)
    return _NAMED_IN_TEXT.sub(lambda found: f"{found[1]}{found[2]}{HIDDEN}", value)
