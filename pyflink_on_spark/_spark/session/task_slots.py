"""The processes that Spark has room for, and where its driver can be reached."""

from __future__ import annotations

import base64
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyspark.sql import SparkSession

from pyflink_on_spark._cluster.transport.handshake import Endpoint, Identity, self_signed
from pyflink_on_spark._options.own import HOSTS
from pyflink_on_spark._spark.session.spark_defaults import (
    LOOPBACK,
    application_settings,
    cores_of,
    is_local,
)

_YOUNG_SECONDS = 30.0
"""Spark's own limit for the registration of executors."""
_STEADY_SECONDS = 5.0
_BACK_SECONDS = 10.0
_PAUSE = 0.1
ASKS_FOR_ENCRYPTION = (
    "spark.ssl.enabled",
    "spark.ssl.rpc.enabled",
    "spark.network.crypto.enabled",
    "spark.io.encryption.enabled",
    "spark.authenticate.enableSaslEncryption",
)
"""The settings of Spark each of which has the connections of jobs encrypted."""


def hosts_for(
    session: SparkSession,
    slots: int,
    settings: Mapping[str, str],
    before: int = 0,
    interrupt: Callable[[], None] = lambda: None,
) -> int:
    """Return how many hosts run the slots of a job.

    Each host is a task of Spark's for as long as an attempt lasts. There is no use in more hosts
    than processors; and where others need task slots meanwhile, one is left to them.

    The executors of a cluster come one by one after the application has started, and an executor
    that was lost is replaced after some seconds: they are awaited for a while.

    Args:
        session: Spark.
        slots: how many slots the job has.
        settings: the job's configuration.
        before: how many hosts the attempt before had; 0 for the first attempt.
        interrupt: called while executors are awaited; what it raises ends that.

    Raises:
        ValueError: if an option cannot be read.
    """
    wished = HOSTS.read(settings)
    if wished is not None:
        return min(wished, slots)
    context = session.sparkContext
    if is_local(context.master):
        free = cores_of(context.master or "") - 1
        return min(slots, max(1, min(cores_of("local[*]"), free)))
    _await_executors(session, slots, before, interrupt)
    return min(slots, max(1, task_slots(session) - _running(session) - 1))


def _await_executors(
    session: SparkSession, slots: int, before: int, interrupt: Callable[[], None]
) -> None:
    context = session.sparkContext
    if application_settings(context).get("spark.dynamicAllocation.enabled") == "true":
        return  # executors come when there are tasks for them, and not before
    if before:
        await_slots(lambda: task_slots(session), before + 1, _BACK_SECONDS, interrupt)
    else:
        young = max(0.0, _YOUNG_SECONDS + context.startTime / 1000 - time.time())
        await_slots(lambda: task_slots(session), slots + 1, young, interrupt, _STEADY_SECONDS)


def has_room(session: SparkSession, hosts: int, settings: Mapping[str, str]) -> bool:
    """Return whether Spark still has the task slots for which ``hosts_for`` chose some hosts."""
    if HOSTS.is_set(settings) or is_local(session.sparkContext.master) or hosts == 1:
        return True
    return task_slots(session) >= hosts


def task_slots(session: SparkSession) -> int:
    """Return how many tasks Spark's executors run at a time, without those that it removes.

    No public call says it: ``defaultParallelism`` is two before the first executor has come, and
    whatever ``spark.default.parallelism`` says.
    """
    # PySpark has no public way to its Java context.
    context = session.sparkContext._jsc.sc()
    slots: int = context.maxNumConcurrentTasks(
        context.resourceProfileManager().defaultResourceProfile()
    )
    return slots


def await_slots(
    count: Callable[[], int],
    wanted: int,
    seconds: float,
    interrupt: Callable[[], None],
    steady: float | None = None,
    now: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Wait for task slots.

    Args:
        count: returns how many there are.
        wanted: how many are enough.
        seconds: how long to wait at most.
        interrupt: called while it waits; what it raises ends that.
        steady: after how many seconds without another executor no other one is expected, once there
            is one; None for the whole time.
        now: returns the time, in s.
        pause: waits for some seconds.
    """
    found, since = count(), now()
    deadline = since + seconds
    while found < wanted and now() < deadline:
        if steady is not None and found and now() - since >= steady:
            return
        interrupt()
        pause(_PAUSE)
        latest = count()
        if latest != found:
            found, since = latest, now()


def _running(session: SparkSession) -> int:
    """Return how many tasks run."""
    tracker = session.sparkContext.statusTracker()
    running = 0
    for stage in tracker.getActiveStageIds():
        info = tracker.getStageInfo(stage)
        running += 0 if info is None else info.numActiveTasks
    return running


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


def _encoded(jvm: Any, key: object, form: str) -> bytes:
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
