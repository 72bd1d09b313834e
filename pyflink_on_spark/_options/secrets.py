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
                "api_key", "account-key", "account_key", "accountkey", "authorization", "bearer",
                "cookie", "connection-string", "connection_string", "connectionstring",
                "encryption-key", "signing-key", "signing.key", "jaas", "keystore.key", "key.pem",
                "key_pem", "basic.auth", "user.info", "user-info", "hmac", ".sas.")  # fmt: skip
_OTHER_ENDS = (".pass", "_pass", "-pass")
_HARMLESS_ENDS = (".provider", ".provider.type")
# A slash in a password may be there as it is. What follows a port is not part of a password.
_USER_IN_URL = re.compile(
    r"(?<=://)(?:(?=[^/?#\s@]*:)[^/?#\s]*|[^/?#\s@]{20,}|"
    r"[^/?#\s@:]{0,80}:(?!\d{1,5}[/?#])[^\s@'\"]{1,200})(?=@)"
)
_SHORT_NAMES = "password|passwd|pwd|passphrase|secret|private[_-]?key|api[_-]?key|access[_-]?key"
_NAMES = (
    "password|passwd|pwd|passphrase|secret[_-]?key|secret|token|api[_-]?key|access[_-]?key|"
    r"account[_-]?key|private[_-]?key|signing[_-]?key|encryption[_-]?key|"
    r"credentials?(?![\w.-]{0,80}provider)"
)
_QUOTED = r"""[\[(]{0,2}(?:[bru]{0,2}|u&)(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.|'')*')"""
_VALUE = rf"""(?:{_QUOTED}|\\{{1,8}}"[^"]*"|\\{{1,8}}'[^']*'|["']?[^&;,\s"']+)"""
_NAMED = rf"""(?:{_NAMES})(?:[_.\d-][\w-]{{0,80}}|\[\d{{1,4}}\])?"""
# Each begins with a fixed word: the time for a text is proportional to its length.
_IN_TEXT = tuple(
    re.compile(rf"(?im)({before}){what}")
    for before, what in (
        (rf"""{_NAMED}\\{{0,8}}["'`]?\s{{0,8}}(?:=>|:=|=)\s{{0,8}}""", _VALUE),
        (rf"""{_NAMED}\\{{0,8}}["']\s{{0,8}}:\s{{0,8}}""", _VALUE),
        (rf"""\(\s{{0,8}}["'][\w.-]{{0,80}}?{_NAMED}["']\s{{0,8}},\s{{0,8}}""", _QUOTED),
        (rf"(?:{_NAMES})\w{{0,10}}\(\s{{0,8}}", _QUOTED),
        (rf"(?:{_NAMES})%3d", r"(?:(?!%26)[^&\s\"'])+"),
        (rf"<(?:[\w:.-]{{0,40}}?)(?:{_NAMES})[\w.-]{{0,40}}>", "[^<]+"),
        (rf"(?:{_NAMES})[\w.-]{{0,40}}</name>\s{{0,80}}<value>", "[^<]+"),
        (rf"(?:{_SHORT_NAMES})\s{{0,8}}:[ \t]{{1,8}}", r"\S+$"),
        (rf"(?:{_SHORT_NAMES})\s{{0,8}}:[ \t]{{0,8}}", r"""[^\s,;}}\])"']{1,200}(?=[,;}}\])]|$)"""),
        (r"token\s{0,8}:[ \t]{0,8}", r"(?=[\w.~+/=-]{0,80}\d)[\w.~+/=-]{16,}"),
        (r"[?&;]pass=", r"[^&;\s\"']+"),
        (r"jdbc:oracle:\w{1,20}:", r"[^/\s@]{1,100}/[^\s@]{1,200}(?=@)"),
        (r"(?:password|identified by|identified with \w{1,80} (?:as|by))\s{1,8}",
         r"""(?:'[^']*'|"[^"]*")"""),
        (r"--[\w.-]{0,40}?(?:password|passwd|secret|token|passphrase)[\w-]{0,40} ", r"\S+"),
        (r"(?:authorization|cookie)[\"']?\s{0,8}[:=]\s{0,8}[\"']?", r"[^\"'\r\n]+"),
        (r"\bbearer\s{1,8}", r"[\w.~+/=-]{16,}"),
        (r"(?:[?&]sig|x-amz-signature)=", r"[^&\s\"']+"),
        (r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----", r"(?:[^-]|-(?!----))+"),
        (r"\b(?:gh[pousr]_|github_pat_)", r"\w{20,}"),
        (r"(?<![\w-])ey[JK]", r"[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"),
    )
)  # fmt: skip


_SIGNS = (
    "passw", "pwd", "passphrase", "secret", "token", "key", "credential", "://", "pass=", "oracle:",
    "identified ", "authorization", "cookie", "bearer", "sig=", "signature=", "-----begin", "ghp_",
    "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "eyj", "eyk",
)  # fmt: skip
"""One of these is in each text that has a secret. The look for them is short."""


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
    named = any(part in lowered for part in _OTHER_PARTS) or lowered.endswith(_OTHER_ENDS)
    named = named or lowered in {"pass", "pat", "sas"}
    named = named and not lowered.endswith(_HARMLESS_ENDS)
    return HIDDEN if named or is_secret(key) else masked_text(value)


def all_masked(options: Mapping[str, str]) -> dict[str, str]:
    """The texts of some options for people."""
    return {key: masked(key, str(value)) for key, value in options.items()}


def masked_text(value: str) -> str:
    """A text without the passwords of its URLs, and of ``password=...`` and the like."""
    lowered = value.lower()
    if not any(sign in lowered for sign in _SIGNS):
        return value
    value = _USER_IN_URL.sub(HIDDEN, value)
    for pattern in _IN_TEXT:
        value = pattern.sub(rf"\1{HIDDEN}", value)
    return value
