"""The Spark task in whose Python worker a host runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from multiprocessing import AuthenticationError

from pyflink_on_spark._cluster.hosts.host import Host
from pyflink_on_spark._cluster.transport.handshake import Address, NetworkSettings
from pyflink_on_spark._cluster.transport.rpc import HostLost, connect
from pyflink_on_spark._spark.jobs.worker_environment import WorkerEnvironment


@dataclass(frozen=True)
class HostTask:
    """Runs a host as long as the attempt lasts; what Spark calls for each partition.

    So Spark sees the host as one of its tasks: it has a task slot, counts against the memory of its
    executor, and ends with it.

    Args:
        driver: where hosts call in.
        environment: of the user's functions.
        network: how hosts connect.
    """

    driver: Address
    environment: WorkerEnvironment
    network: NetworkSettings = field(default_factory=NetworkSettings)

    def __call__(self, numbers: Iterable[int]) -> None:
        """Run the host whose number is in the partition.

        Raises:
            HostLost: the driver does not answer; Spark tries again, and its error has the reason.
        """
        for number in numbers:
            self._run(number)

    def _run(self, number: int) -> None:
        try:
            control = connect(self.driver, "the driver")
        except AuthenticationError:
            return  # as below, and something else listens there by now
        except HostLost as error:
            if isinstance(error.__cause__, (ConnectionError, EOFError)):
                return  # the attempt is over: what Spark runs again is not wanted
            raise
        host = Host(number, control, self.driver, self.network)
        try:
            control.send(number, host.address)  # heartbeats are answered from now on
            with self.environment.active():
                host.run()
        finally:
            control.close()
