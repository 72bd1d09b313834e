"""The key and the certificate with which the processes of a job encrypt their connections."""

from __future__ import annotations

import os
import ssl
import tempfile
from dataclasses import dataclass, field
from functools import lru_cache


@dataclass(frozen=True)
class Identity:
    """What all processes of a job have, and nobody else: TLS accepts no other certificate.

    Args:
        certificate: in PEM.
        key: the private key in PEM; never shown.
    """

    certificate: str
    key: str = field(repr=False)


@lru_cache(maxsize=8)
def tls_context(identity: Identity, *, server: bool) -> ssl.SSLContext:
    """Return what encrypts connections, and accepts peers with the same identity only.

    Args:
        identity: the job's.
        server: whether for the end that was called.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cadata=identity.certificate)
    descriptor, path = tempfile.mkstemp(prefix="pyflink_on_spark-")  # ssl reads keys from files
    try:
        with open(descriptor, "w", encoding="ascii") as file:
            file.write(identity.key + identity.certificate)
        context.load_cert_chain(path)
    finally:
        os.unlink(path)
    if server:
        context.num_tickets = 0
    return context
