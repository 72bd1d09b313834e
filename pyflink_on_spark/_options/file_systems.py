"""The options of remote file systems."""

from __future__ import annotations

from pyflink_on_spark._options.kinds import boolean, text
from pyflink_on_spark._options.option import Option, OptionPrefix

_S3_PREFIXES = ("s3.", "s3a.", "fs.s3.", "fs.s3a.")


def _s3_keys(*names: str) -> tuple[str, tuple[str, ...]]:
    """Return the key of an option of S3, and its other spellings."""
    first, *others = (prefix + name for prefix in _S3_PREFIXES for name in names)
    return first, tuple(others)


def _s3_text(*names: str) -> Option[str | None]:
    key, others = _s3_keys(*names)
    return text(key, None, former=others)


def _s3_flag(default: bool, *names: str) -> Option[bool]:
    key, others = _s3_keys(*names)
    return boolean(key, default, former=others)


S3_ACCESS_KEY = _s3_text("access-key", "access.key")
S3_SECRET_KEY = _s3_text("secret-key", "secret.key")
S3_SESSION_TOKEN = _s3_text("session-token", "session.token")
S3_ENDPOINT = _s3_text("endpoint")
S3_REGION = _s3_text("region", "endpoint.region")
S3_PATH_STYLE = _s3_flag(False, "path.style.access", "path-style-access")
S3_SSL = _s3_flag(True, "connection.ssl.enabled")

OSS_ENDPOINT = text("fs.oss.endpoint", None)
OSS_KEY = text("fs.oss.accessKeyId", None)
OSS_SECRET = text("fs.oss.accessKeySecret", None)
OSS_TOKEN = text("fs.oss.securityToken", None)

AZURE_ACCOUNT_KEY = OptionPrefix("fs.azure.account.key.", "account")
