"""Options of file systems, from Flink's keys in the configuration of a job."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyflink_on_spark._options import file_systems as options

_AZURE = "core.windows.net"


@dataclass(frozen=True)
class S3Options:
    """The access to S3. None: the environment variables of the library decide.

    Args:
        access_key: the access key of the account.
        secret_key: the secret key of the account.
        session_token: the token of a temporary account.
        endpoint: a URL or a host.
        region: the region of the bucket.
        path_style: whether the bucket is part of the path, not of the host's name.
        ssl: whether to use https for an endpoint without a protocol.
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
        """Return the options in a configuration."""
        found = cls(
            access_key=options.S3_ACCESS_KEY.read(configuration),
            secret_key=options.S3_SECRET_KEY.read(configuration),
            session_token=options.S3_SESSION_TOKEN.read(configuration),
            endpoint=options.S3_ENDPOINT.read(configuration),
            region=options.S3_REGION.read(configuration),
            path_style=options.S3_PATH_STYLE.read(configuration),
            ssl=options.S3_SSL.read(configuration),
        )
        if (found.access_key is None) != (found.secret_key is None):
            raise ValueError(
                f"S3 needs both {options.S3_ACCESS_KEY.key} and {options.S3_SECRET_KEY.key}, "
                "or neither"
            )
        return found

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
    """Return the endpoint that s3fs reads from the environment, and pyarrow does not."""
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")


def storage_options(
    protocol: str, authority: str, configuration: Mapping[str, str], *, arrow: bool
) -> dict[str, Any]:
    """Return the arguments of a file system.

    Args:
        protocol: the name in fsspec.
        authority: the authority of the URI.
        configuration: the configuration of the job.
        arrow: whether the file system is pyarrow's, not fsspec's.

    Raises:
        ValueError: a necessary option is missing.
    """
    if protocol == "s3":
        s3 = S3Options.of(configuration)
        return s3.for_arrow() if arrow else s3.for_fsspec()
    if protocol == "oss":
        return _oss_options(configuration)
    if protocol == "abfs":
        found = _azure_options(authority, configuration)
        return {**_azure_place(authority), **found} if arrow else found
    return {}


def _oss_options(configuration: Mapping[str, str]) -> dict[str, Any]:
    found = {
        "endpoint": options.OSS_ENDPOINT.read(configuration),
        "key": options.OSS_KEY.read(configuration),
        "secret": options.OSS_SECRET.read(configuration),
        "token": options.OSS_TOKEN.read(configuration),
    }
    return {name: value for name, value in found.items() if value is not None}


def _azure_options(authority: str, configuration: Mapping[str, str]) -> dict[str, Any]:
    host = _azure_host(authority)
    account = host.partition(".")[0]
    for name in (host, *(f"{account}.{kind}.{_AZURE}" for kind in ("dfs", "blob"))):
        key = options.AZURE_ACCOUNT_KEY.read(name, configuration)
        if account and key is not None:
            return {"account_name": account, "account_key": key}
    return {}


def _azure_place(authority: str) -> dict[str, str]:
    """Return the arguments of pyarrow for the place of an account."""
    account, _, domain = _azure_host(authority).partition(".")
    kind, _, cloud = domain.partition(".")
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
