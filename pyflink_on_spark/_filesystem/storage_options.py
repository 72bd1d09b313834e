"""What a job's configuration says of file systems, with Flink's own keys."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_S3_PREFIXES = ("s3.", "s3a.", "fs.s3.", "fs.s3a.")
_S3_KEYS = {
    "access-key": "access_key",
    "access.key": "access_key",
    "secret-key": "secret_key",
    "secret.key": "secret_key",
    "session.token": "session_token",
    "session-token": "session_token",
    "endpoint": "endpoint",
    "endpoint.region": "region",
    "region": "region",
    "path.style.access": "path_style",
    "path-style-access": "path_style",
    "connection.ssl.enabled": "ssl",
}
_OSS_KEYS = {
    "fs.oss.endpoint": "endpoint",
    "fs.oss.accessKeyId": "key",
    "fs.oss.accessKeySecret": "secret",
    "fs.oss.securityToken": "token",
}
_AZURE = "core.windows.net"
_AZURE_KEY = "fs.azure.account.key."


@dataclass(frozen=True)
class S3Options:
    """How S3 is reached; None: as the library's own environment variables say.

    Args:
        access_key: of the account.
        secret_key: of the account.
        session_token: of a temporary account.
        endpoint: a URL, or a host.
        region: of the bucket.
        path_style: whether the bucket is a part of the path, not of the host's name.
        ssl: whether an endpoint without a protocol is reached by https.
    """

    access_key: str | None = field(default=None, repr=False)
    secret_key: str | None = field(default=None, repr=False)
    session_token: str | None = field(default=None, repr=False)
    endpoint: str | None = None
    region: str | None = None
    path_style: bool = False
    ssl: bool = True

    @classmethod
    def of(cls, configuration: Mapping[str, str]) -> S3Options:
        """Return what a configuration says."""
        found: dict[str, Any] = {}
        for prefix in reversed(_S3_PREFIXES):
            for key, name in _S3_KEYS.items():
                if prefix + key in configuration:
                    found[name] = configuration[prefix + key]
        for flag in ("path_style", "ssl"):
            if flag in found:
                found[flag] = str(found[flag]).strip().lower() == "true"
        options = cls(**found)
        if (options.access_key is None) != (options.secret_key is None):
            raise ValueError("S3 needs both s3.access-key and s3.secret-key, or none of them")
        return options

    def for_fsspec(self) -> dict[str, Any]:
        """Return the arguments of s3fs."""
        found: dict[str, Any] = {
            "key": self.access_key,
            "secret": self.secret_key,
            "token": self.session_token,
            "endpoint_url": self._endpoint_url(),
        }
        if self.region:
            found["client_kwargs"] = {"region_name": self.region}
        if self.path_style:
            found["config_kwargs"] = {"s3": {"addressing_style": "path"}}
        return {name: value for name, value in found.items() if value is not None}

    def for_arrow(self) -> dict[str, Any]:
        """Return the arguments of pyarrow's S3FileSystem."""
        found: dict[str, Any] = {
            "access_key": self.access_key,
            "secret_key": self.secret_key,
            "session_token": self.session_token,
            "endpoint_override": self._endpoint_url() or _endpoint_of_environment(),
            "region": self.region,
        }
        return {name: value for name, value in found.items() if value is not None}

    def _endpoint_url(self) -> str | None:
        if not self.endpoint or "://" in self.endpoint:
            return self.endpoint or None
        return f"{'https' if self.ssl else 'http'}://{self.endpoint}"


def _endpoint_of_environment() -> str | None:
    """Return what s3fs finds by itself, and pyarrow does not look for."""
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")


def storage_options(
    protocol: str, authority: str, configuration: Mapping[str, str], *, arrow: bool
) -> dict[str, Any]:
    """Return the arguments of a file system.

    Args:
        protocol: fsspec's name of it.
        authority: the part of the URI that says where it is.
        configuration: the job's.
        arrow: whether it is pyarrow's, not fsspec's.

    Raises:
        ValueError: if only half of what it needs is there.
    """
    if protocol == "s3":
        options = S3Options.of(configuration)
        return options.for_arrow() if arrow else options.for_fsspec()
    if protocol == "oss":
        return {name: configuration[key] for key, name in _OSS_KEYS.items() if key in configuration}
    if protocol == "abfs":
        found = _azure_options(authority, configuration)
        return {**_azure_place(authority), **found} if arrow else found
    return {}


def _azure_options(authority: str, configuration: Mapping[str, str]) -> dict[str, Any]:
    host = _azure_host(authority)
    account = host.partition(".")[0]
    for name in (host, *(f"{account}.{kind}.{_AZURE}" for kind in ("dfs", "blob"))):
        key = configuration.get(f"{_AZURE_KEY}{name}")
        if account and key is not None:
            return {"account_name": account, "account_key": key}
    return {}


def _azure_place(authority: str) -> dict[str, str]:
    """Return what pyarrow has to know of where an account is."""
    account, _, behind = _azure_host(authority).partition(".")
    kind, _, cloud = behind.partition(".")
    if not authority.partition("@")[1] or kind not in {"dfs", "blob"}:
        raise ValueError(
            "a URI of Azure names the container and the account, unless adlfs is installed: "
            f"abfs://<container>@<account>.dfs.{_AZURE}/<path>, not abfs://{authority}"
        )
    found = {"account_name": account}
    if cloud != _AZURE:
        found |= {f"{kind}_storage_authority": f".{kind}.{cloud}" for kind in ("dfs", "blob")}
    return found


def _azure_host(authority: str) -> str:
    return authority.rpartition("@")[2].partition(":")[0]
