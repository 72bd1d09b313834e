"""Paths as users write them, and their file systems."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import unquote

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._filesystem.file_system import FileSystem, find_scheme, uses_arrow
from pyflink_on_spark._filesystem.local_files import LOCAL
from pyflink_on_spark._filesystem.remote_files import RemoteFiles, options_of_uri
from pyflink_on_spark._options import flink as options

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_NOTHING: Mapping[str, str] = MappingProxyType({})
_AZURE = "core.windows.net"


@dataclass(frozen=True)
class Location:
    """A path and its file system.

    Args:
        path: an absolute local path, or a URI without a password.
        files: the file system.
    """

    path: str
    files: FileSystem

    def has(self, path: str) -> bool:
        """True for a path on this file system."""
        if not isinstance(self.files, RemoteFiles):
            return path.startswith("/")
        return f"{path}/".startswith(f"{self.files.root}/")


def locate(path: str, configuration: Mapping[str, str] = _NOTHING) -> Location:
    """Return the location of a path.

    Call this function in the driver if the path may be relative: a worker may run in another
    folder.

    Args:
        path: a local path or a URI.
        configuration: the configuration of the job, which may say how to reach the file system.

    Raises:
        TypeError: the path is not a string.
        ValueError: the path is not valid, or its file system is unknown.
        ModuleNotFoundError: a package for the file system is missing.
    """
    if not isinstance(path, str):
        raise TypeError(f"a path must be a str, not {type(path).__name__}: {path!r}")
    if not path:
        raise ValueError("Can not create a Path from an empty string")
    scheme = _SCHEME.match(path)
    if scheme is None:
        return Location(os.path.abspath(path), LOCAL)
    rest = path[scheme.end() :]
    if scheme.group(1) == "file":
        return Location(os.path.abspath(_without_authority(path, rest)), LOCAL)
    return _locate_remote(scheme.group(1), rest, configuration)


def absolute(path: str) -> str:
    """Return the absolute path of a local path, and a URI unchanged.

    Raises:
        ValueError: the path is not valid, or its file system is unknown.
        ModuleNotFoundError: a package for the file system is missing.
    """
    found = locate(path)
    return path if is_remote(path) else found.path


def is_remote(path: str) -> bool:
    """True for the URI of a file system that is not local."""
    scheme = _SCHEME.match(path)
    return scheme is not None and scheme.group(1) != "file"


def _locate_remote(name: str, rest: str, configuration: Mapping[str, str]) -> Location:
    authority, slash, path = rest.removeprefix("//").partition("/")
    user, at, host = authority.rpartition("@")
    user, colon, password = user.partition(":")
    scheme = find_scheme(name)
    if colon and scheme.object_store:
        raise ValueError(
            f"keys do not belong in a URI ({name}://...@{host}): give them in the configuration "
            "or in the environment"
        )
    root = f"{name}://{user}{at}{host}"
    options = {
        **options_of_uri(scheme, root),
        **({"password": unquote(password)} if colon else {}),
        **storage_options(scheme.protocol, authority, configuration, arrow=uses_arrow(scheme)),
    }
    whole = f"{root}{slash}{path}".rstrip("/")
    return Location(max(whole, root, key=len), RemoteFiles(root, scheme, options))


def _without_authority(uri: str, rest: str) -> str:
    if not rest.startswith("//"):
        return rest
    host, slash, path = rest[2:].partition("/")
    if host not in ("", "localhost"):
        raise ValueError(f"a file URI cannot name a host ({host!r}): {uri!r}")
    return slash + path


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

    def for_fsspec(self) -> dict[str, object]:
        """Return the arguments of s3fs."""
        found: dict[str, object] = {
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

    def for_arrow(self) -> dict[str, object]:
        """Return the arguments of pyarrow's S3FileSystem."""
        found: dict[str, object] = {
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
) -> dict[str, object]:
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


def _oss_options(configuration: Mapping[str, str]) -> dict[str, object]:
    found = {
        "endpoint": options.OSS_ENDPOINT.read(configuration),
        "key": options.OSS_KEY.read(configuration),
        "secret": options.OSS_SECRET.read(configuration),
        "token": options.OSS_TOKEN.read(configuration),
    }
    return {name: value for name, value in found.items() if value is not None}


def _azure_options(authority: str, configuration: Mapping[str, str]) -> dict[str, object]:
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


def local_path(path: str) -> str:
    """Return the absolute local path of a path or of a ``file:`` URI.

    Call this function in the driver: a worker may run in another folder.

    Raises:
        TypeError: the path is not a string.
        ValueError: the path is empty, or names a host.
        UnsupportedFlinkFeature: the path is on another file system.
    """
    if isinstance(path, str) and is_remote(path):
        raise_unsupported(
            f"the path {path!r}",
            kind=Gap.NOT_YET,
            reason="the file must be on this machine",
            instead="Mount or copy the files, and give their local path.",
        )
    return locate(path).path
