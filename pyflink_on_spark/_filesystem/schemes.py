"""The file systems of URI schemes, and the packages that they need."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from importlib import metadata
from typing import Any

EXTRA = "pip install 'pyflink_on_spark[filesystems]'"


@dataclass(frozen=True)
class Scheme:
    """A kind of file system.

    Args:
        protocol: the name in fsspec.
        package: the package that it needs besides fsspec; "" for none.
        module: the name under which the package is imported.
        by_arrow: whether pyarrow supports it without that package.
        object_store: whether a file appears when it is complete, and folders are only names.
        writable: whether files can be written.
    """

    protocol: str
    package: str = ""
    module: str = ""
    by_arrow: bool = False
    object_store: bool = False
    writable: bool = True


_S3 = Scheme("s3", "s3fs", "s3fs", by_arrow=True, object_store=True)
_GCS = Scheme("gs", "gcsfs", "gcsfs", by_arrow=True, object_store=True)
_AZURE = Scheme("abfs", "adlfs", "adlfs", by_arrow=True, object_store=True)
_SFTP = Scheme("sftp", "paramiko", "paramiko")
_HTTP = Scheme("http", "aiohttp", "aiohttp", writable=False)
_KNOWN = {
    **dict.fromkeys(("s3", "s3a", "s3n", "s3p"), _S3),
    **dict.fromkeys(("gs", "gcs"), _GCS),
    **dict.fromkeys(("abfs", "abfss", "az"), _AZURE),
    **dict.fromkeys(("sftp", "ssh"), _SFTP),
    "http": _HTTP,
    "https": Scheme("https", "aiohttp", "aiohttp", writable=False),
    "oss": Scheme("oss", "ossfs", "ossfs", object_store=True),
    "hdfs": Scheme("hdfs", "pyarrow", "pyarrow"),
    "webhdfs": Scheme("webhdfs", "requests", "requests"),
    "ftp": Scheme("ftp"),
    "memory": Scheme("memory", object_store=True),
}
_FIRST_YEAR = 2021
# Protocols for files in other files, for cached copies, and for this machine.
_NOT_A_PLACE = frozenset(
    {"zip", "tar", "libarchive", "dir", "root", "data", "reference", "generic", "local", "file"}
    | {"filecache", "blockcache", "simplecache", "cached", "async_wrapper", "asyncwrapper"}
    | {"asynclocal"}
)


def find_scheme(name: str) -> Scheme:
    """Return the file system of a scheme.

    Args:
        name: the name of the scheme.

    Raises:
        ModuleNotFoundError: a package is missing. The message says which one.
        ValueError: there is no such file system.
    """
    name = name.lower()
    known = _KNOWN.get(name)
    if importlib.util.find_spec("fsspec") is None:
        more = f" {known.package}" if known and known.package and not known.by_arrow else ""
        raise _missing(name, f"{EXTRA}{more}")
    if known is None:
        return _found_by_fsspec(name)
    if known.by_arrow or not known.module or importlib.util.find_spec(known.module):
        return known
    raise _missing(name, f"pip install {known.package}")


def uses_arrow(scheme: Scheme) -> bool:
    """True if pyarrow's own file system is used, because fsspec's is not installed."""
    return scheme.by_arrow and not _is_there(scheme.package)


def _is_there(package: str) -> bool:
    """True if a usable package of fsspec's family is installed; pip may install 0.4 of 2020."""
    try:
        return int(metadata.version(package).partition(".")[0]) >= _FIRST_YEAR
    except (metadata.PackageNotFoundError, ValueError):
        return False


def _found_by_fsspec(name: str) -> Scheme:
    registry: Any = importlib.import_module("fsspec.registry")
    if name in _NOT_A_PLACE or name not in registry.available_protocols():
        raise ValueError(
            f"Could not find a file system implementation for scheme {name!r}: fsspec does not "
            "support it. Mount or copy the files, and give their local path."
        )
    try:
        registry.get_filesystem_class(name)
    except ImportError as error:
        raise _missing(name, str(error)) from error
    return Scheme(name)


def _missing(scheme: str, way_out: str) -> ModuleNotFoundError:
    return ModuleNotFoundError(
        f"Could not find a file system implementation for scheme {scheme!r}: {way_out}"
    )
