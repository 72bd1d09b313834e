"""The signature of a checkpoint: only who has the key can change what a job begins with.

The driver alone has the key. Hosts write digests beside what they write, the metadata list them,
and the driver signs the metadata. Hosts that restore get the digest of the metadata from the
driver.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._options.own import CHECKPOINT_KEY

_LEAST = 32
_PURPOSE = b"checkpoint of pyflink_on_spark\0"


@dataclass(frozen=True)
class Signer:
    """Signs digests.

    Args:
        key: the secret.
    """

    key: bytes = field(repr=False)

    def sign(self, digest: str) -> str:
        """Make the signature of a digest."""
        return hmac.new(self.key, _PURPOSE + digest.encode(), hashlib.sha256).hexdigest()

    def has_signed(self, digest: str, signature: object) -> bool:
        """True if a signature is that of a digest."""
        return isinstance(signature, str) and hmac.compare_digest(
            self.sign(digest).encode(), signature.encode()
        )


def signer_of(configuration: Mapping[str, str]) -> Signer | None:
    """The signer with the key that a configuration names; None if it names none.

    Raises:
        CheckpointError: there is no such key, or it is too short.
    """
    where = CHECKPOINT_KEY.read(configuration)
    if where is None:
        return None
    key = _key(where).rstrip(b"\r\n")
    if len(key) < _LEAST:
        raise CheckpointError(
            f"the key of {CHECKPOINT_KEY.key} has {len(key)} bytes, and needs at least {_LEAST}; "
            "`openssl rand -hex 32` makes one"
        )
    return Signer(key)


def _key(where: str) -> bytes:
    kind, _, name = where.partition(":")
    if kind == "env":
        found = os.environ.get(name)
        if found is None:
            raise CheckpointError(
                f"{CHECKPOINT_KEY.key} names the environment variable {name}, which is not set"
            )
        return found.encode()
    try:
        return Path(unquote(urlsplit(where).path)).read_bytes()
    except OSError as error:
        raise CheckpointError(f"{CHECKPOINT_KEY.key}: {error}") from error
