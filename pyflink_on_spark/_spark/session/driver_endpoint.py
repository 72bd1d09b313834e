"""The endpoint on which the driver listens for the processes of its jobs."""

from __future__ import annotations

import base64
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._cluster.transport.handshake import Endpoint, Identity, self_signed
from pyflink_on_spark._spark.session.spark_defaults import LOOPBACK, application_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


ASKS_FOR_ENCRYPTION = (
    "spark.ssl.enabled",
    "spark.ssl.rpc.enabled",
    "spark.network.crypto.enabled",
    "spark.io.encryption.enabled",
    "spark.authenticate.enableSaslEncryption",
)
"""The settings of Spark each of which has the connections of jobs encrypted."""


def is_encrypted(session: SparkSession) -> bool:
    """Return whether a session's settings ask for encryption."""
    conf = application_settings(session.sparkContext)
    return any((conf.get(key) or "").lower() == "true" for key in ASKS_FOR_ENCRYPTION)


def new_identity(session: SparkSession) -> Identity:
    """Return a new key and its certificate; Java makes them, for Python itself cannot."""
    jvm: Any = session.sparkContext._jvm  # PySpark has no public way to Java's own classes
    generator = jvm.java.security.KeyPairGenerator.getInstance("EC")
    generator.initialize(jvm.java.security.spec.ECGenParameterSpec("secp256r1"))
    pair = generator.generateKeyPair()

    def sign(content: bytes) -> bytes:
        signature = jvm.java.security.Signature.getInstance("SHA256withECDSA")
        signature.initSign(pair.getPrivate())
        signature.update(bytearray(content))
        return bytes(signature.sign())

    public = _encoded(jvm, pair.getPublic(), "X509EncodedKeySpec")
    certificate = self_signed("pyflink_on_spark", public, sign)
    private_key = _encoded(jvm, pair.getPrivate(), "PKCS8EncodedKeySpec")
    return Identity(_pem("CERTIFICATE", certificate), _pem("PRIVATE KEY", private_key))


def _encoded(jvm: Any, key: Any, form: str) -> bytes:
    """Return the bytes of a key. Its own class is one that Java's modules hide from others."""
    specification = jvm.java.lang.Class.forName(f"java.security.spec.{form}")
    factory = jvm.java.security.KeyFactory.getInstance("EC")
    return bytes(factory.getKeySpec(key, specification).getEncoded())


def _pem(kind: str, content: bytes) -> str:
    text = textwrap.fill(base64.b64encode(content).decode("ascii"), 64)
    return f"-----BEGIN {kind}-----\n{text}\n-----END {kind}-----\n"


def driver_endpoint(session: SparkSession, ports: Sequence[int]) -> Endpoint:
    """Return where to listen: at the addresses where Spark's driver does.

    Args:
        session: the job's.
        ports: the ports to choose from.
    """
    conf = application_settings(session.sparkContext)
    host = conf.get("spark.driver.host") or LOOPBACK
    bind = conf.get("spark.driver.bindAddress") or host
    return Endpoint(
        host.strip("[]"),
        bind.strip("[]"),
        ports,
        new_identity(session) if is_encrypted(session) else None,
    )
