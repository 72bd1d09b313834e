"""The options that hold secrets, and their texts for people."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator, Mapping

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
_NAMES_OF_VALUES = (
    "password|passwd|pwd|passphrase|secret|private[_-]?key|api[_-]?key|access[_-]?key"
)
_NAMES = (
    "password|passwd|pwd|passphrase|secret[_-]?key|secret|token|api[_-]?key|access[_-]?key|"
    r"account[_-]?key|private[_-]?key|signing[_-]?key|encryption[_-]?key|"
    r"credentials?(?![\w.-]{0,80}provider)"
)
_QUOTED = r"""[\[(]{0,2}(?:[bru]{0,2}|u&)(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.|'')*')"""
_VALUE = rf"""(?:{_QUOTED}|\\{{1,8}}"[^"]*"|\\{{1,8}}'[^']*'|["']?[^&;,\s"']+)"""
_NAMED = rf"""(?:{_NAMES})(?:[_.\d-][\w-]{{0,80}}|\[\d{{1,4}}\])?"""
_IN_NAMES = ("passw", "pwd", "passphrase", "secret", "token", "key", "credential")
# Arguments are in a line, or in a list as Python shows it.
_NEXT_ARGUMENT = r"""(?:["'],\s{0,8}["']|[ \t=]{1,4}["']?)"""
_ARGUMENT = r"""[^\s"']+"""


class _Form:
    """One form in which a secret can be in a text.

    Each begins with a fixed word, and what is repeated has a bound or cannot match what follows it:
    the time for a text is proportional to its length.

    Args:
        signs: one of these is in each text of this form. The look for them is short.
        before: what precedes the secret.
        secret: the secret itself. Both match texts in lower case.
        line_of: the program in whose command line the secret is, if it is there only.
        is_one: takes the secret as it is written, and says no to what only resembles one.
    """

    def __init__(
        self,
        signs: tuple[str, ...],
        before: str,
        secret: str,
        *,
        line_of: str = "",
        is_one: Callable[[str], bool] | None = None,
    ) -> None:
        self._signs = signs
        self._pattern = re.compile(rf"(?m){before}(?P<secret>{secret})")
        self._line = re.compile(rf"(?:{line_of})[^\n]{{0,4000}}") if line_of else None
        self._is_one = is_one

    def found(self, lowered: str, text: str) -> Iterator[tuple[int, int]]:
        """Yield where secrets of this form are in a text, which is there in lower case too."""
        if not any(sign in lowered for sign in self._signs):
            return
        if self._line is None:
            lines = [(0, len(lowered))]
        else:
            lines = [each.span() for each in self._line.finditer(lowered)]
        for begin, end in lines:
            for each in self._pattern.finditer(lowered, begin, end):
                first, last = each.span("secret")
                is_new = not lowered.startswith(HIDDEN, first)
                if is_new and (self._is_one is None or self._is_one(text[each.start() : last])):
                    yield first, last


def _is_user_and_password(written: str) -> bool:
    try:
        return b":" in base64.b64decode(written.rsplit(maxsplit=1)[-1] + "==", altchars=None)
    except ValueError:
        return False


def _is_no_number_of_a_user(written: str) -> bool:
    """True unless it is the ``-u 1000:1000`` of a container."""
    return re.search(r"[ ='\"]\d+:\d+$", written) is None


_FORMS = (
    # A slash in a password may be there as it is. What follows a port is not part of a password.
    _Form(
        ("://",),
        "://",
        r"(?:(?=[^/?#\s@]*:)[^/?#\s]*|[^/?#\s@]{20,}|"
        r"[^/?#\s@:]{0,80}:(?!\d{1,5}[/?#])[^\s@'\"]{1,200})(?=@)",
    ),
    _Form(_IN_NAMES, rf"""{_NAMED}\\{{0,8}}["'`]?\s{{0,80}}(?:=>|:=|=)\s{{0,80}}""", _VALUE),
    _Form(_IN_NAMES, rf"""{_NAMED}\\{{0,8}}["']\s{{0,80}}:\s{{0,80}}""", _VALUE),
    _Form(
        _IN_NAMES, rf"""\(\s{{0,8}}["'][\w.-]{{0,80}}?{_NAMED}["']\s{{0,8}},\s{{0,8}}""", _QUOTED
    ),
    _Form(_IN_NAMES, rf"(?:{_NAMES})\w{{0,10}}\(\s{{0,8}}", _QUOTED),
    _Form(("%3d",), rf"(?:{_NAMES})%3d", r"(?:(?!%26)[^&\s\"'])+"),
    _Form(_IN_NAMES, rf"<(?:[\w:.-]{{0,40}}?)(?:{_NAMES})[\w.-]{{0,40}}>", "[^<]+"),
    _Form(("</name>",), rf"(?:{_NAMES})[\w.-]{{0,40}}</name>\s{{0,80}}<value>", "[^<]+"),
    # YAML has a value in the next lines, too.
    _Form(
        _IN_NAMES,
        rf"""(?:{_NAMES_OF_VALUES})["']?\s{{0,8}}:[ \t]{{1,8}}[|>][+\d-]{{0,2}}[ \t\r]{{0,8}}\n"""
        r"(?P<indent>[ \t]{1,80})",
        r"[^\n]+(?:\n(?P=indent)[^\n]+)*",
    ),
    _Form(
        _IN_NAMES,
        rf"""(?:{_NAMES_OF_VALUES})["']?\s{{0,8}}:[ \t\r]{{0,8}}\n"""
        r"[ \t]{1,80}(?:-[ \t]{1,8})?",
        rf"(?:{_QUOTED}|\S*[^\s:])(?=[ \t\r]{{0,8}}$)",
    ),
    _Form(_IN_NAMES, rf"(?:{_NAMES_OF_VALUES})\s{{0,8}}:[ \t]{{1,8}}", r"(?![|>][+\d-]{0,2}$)\S+$"),
    _Form(
        _IN_NAMES,
        rf"(?:{_NAMES_OF_VALUES})\s{{0,8}}:[ \t]{{0,8}}",
        r"""[^\s,;}\])"']{1,200}(?=[,;}\])]|$)""",
    ),
    _Form(("token",), r"token\s{0,8}:[ \t]{0,8}", r"(?=[\w.~+/=-]{0,80}\d)[\w.~+/=-]{16,}"),
    _Form(("pass=",), r"[?&;]pass=", r"[^&;\s\"']+"),
    _Form(("oracle:",), r"jdbc:oracle:\w{1,20}:", r"[^/\s@]{1,100}/[^\s@]{1,200}(?=@)"),
    _Form(
        ("password", "identified "),
        r"(?:password|identified by|identified with \w{1,80} (?:as|by))\s{1,8}",
        r"""(?:'[^']*'|"[^"]*")""",
    ),
    _Form(
        ("pass", "secret", "token"),
        r"(?<![\w-])--?[\w.-]{0,40}?(?:password|passwd|passphrase|storepass|keypass|secret|token)"
        rf"[\w-]{{0,40}}{_NEXT_ARGUMENT}",
        _ARGUMENT,
    ),
    _Form(
        ("-u",),
        rf"(?<![\w-])(?:-u|--(?:proxy-)?user){_NEXT_ARGUMENT}" + r"""[^\s:"'/]{1,80}:""",
        _ARGUMENT,
        is_one=_is_no_number_of_a_user,
    ),
    _Form(("curl",), r"""(?<=[\s"'])-u[^\s:"'/]{1,80}:""", _ARGUMENT, line_of=r"\bcurl\b"),
    _Form(
        ("mysql", "mariadb"),
        r"""(?<=[\s"'])-p""",
        r"""[^\s"'-][^\s"']*""",
        line_of=r"(?<![:\w])(?:mysql|mariadb)",
        is_one=lambda written: written.startswith("-p"),
    ),
    _Form(
        ("sshpass", "mongo", "redis-cli", "ldap", "sqlcmd"),
        r"""(?<=[\s"'])-(?:p|a|w)""" + _NEXT_ARGUMENT,
        _ARGUMENT,
        line_of=r"\bsshpass|\bmongo|\bredis-cli|\bldap(?:search|add|modify|delete|whoami)|\bsqlcmd",
    ),
    _Form(
        ("authorization", "cookie"),
        r"(?:authorization|cookie)[\"']?\s{0,8}[:=]\s{0,8}[\"']?",
        r"[^\"'\r\n]+",
    ),
    _Form(("bearer",), r"\bbearer\s{1,8}", r"[\w.~+/=-]{16,}"),
    _Form(("basic",), r"\bbasic\s{1,8}", r"[\w+/]{4,}={0,2}", is_one=_is_user_and_password),
    _Form(("sig=", "signature="), r"(?:[?&]sig|x-amz-signature)=", r"[^&\s\"']+"),
    _Form(("-----begin",), r"-----begin [a-z ]{0,30}private key-----", r"(?:[^-]|-(?!----))+"),
    _Form(("gh", "github"), r"\b(?:gh[pousr]_|github_pat_)", r"\w{20,}"),
    _Form(
        ("xox", "glpat-", "_live_", "sk-ant-", "dapi", "aiza"),
        r"\b(?:xox[abposr]-|glpat-|[rs]k_live_|sk-ant-|dapi(?=[\da-f]{32})|aiza(?=[\w-]{35}))",
        r"[\w-]{16,}",
    ),
    _Form(("eyj", "eyk"), r"(?<![\w-])ey[jk]", r"[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"),
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
    named = any(part in lowered for part in _OTHER_PARTS) or lowered.endswith(_OTHER_ENDS)
    named = named or lowered in {"pass", "pat", "sas"}
    named = named and not lowered.endswith(_HARMLESS_ENDS)
    return HIDDEN if named or is_secret(key) else masked_text(value)


def all_masked(options: Mapping[str, str]) -> dict[str, str]:
    """The texts of some options for people."""
    return {key: masked(key, str(value)) for key, value in options.items()}


def masked_text(value: str) -> str:
    """A text without the passwords of its URLs, and of ``password=...`` and the like.

    A text that was masked is not changed by a second time.
    """
    lowered = value.lower()
    if len(lowered) != len(value):
        lowered = "".join(each.lower()[:1] for each in value)
    for form in _FORMS:
        places = list(form.found(lowered, value))
        if places:
            value = _without(value, places)
            lowered = _without(lowered, places)
    return value


def _without(text: str, places: list[tuple[int, int]]) -> str:
    kept, end = [], 0
    for first, last in places:
        kept.append(text[end:first])
        end = last
    return HIDDEN.join([*kept, text[end:]])
