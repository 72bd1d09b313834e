"""The settings of a job's connections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyflink_on_spark._options import network, own
from pyflink_on_spark._options.port_ranges import parse_ports


@dataclass(frozen=True)
class NetworkSettings:
    """The settings of connections between the processes of a job.

    Args:
        heartbeat_interval: how often the driver asks whether a host is alive, in s.
        heartbeat_timeout: after which silence one counts as lost, in s.
        command_timeout: how long a host may take for an order of the driver, in s.
        driver_ports: which the driver listens on.
        host_ports: which hosts listen on.
    """

    heartbeat_interval: float = 10.0
    heartbeat_timeout: float = 50.0
    driver_ports: tuple[int, ...] = (0,)
    host_ports: tuple[int, ...] = (0,)
    command_timeout: float = 3_600.0

    @classmethod
    def of(cls, configuration: Mapping[str, str]) -> NetworkSettings:
        """Return the settings in a configuration.

        Raises:
            ValueError: an option cannot be read, or the timeout is not longer than the interval.
        """
        interval = network.HEARTBEAT_INTERVAL.read(configuration)
        timeout = network.HEARTBEAT_TIMEOUT.read(configuration)
        if timeout <= interval:
            raise ValueError(
                f"The heartbeat timeout ({timeout} ms) must be larger than the heartbeat interval "
                f"({interval} ms)."
            )
        return cls(
            interval / 1000,
            timeout / 1000,
            parse_ports(own.DRIVER_PORTS.read(configuration)),
            parse_ports(own.HOST_PORTS.read(configuration)),
            own.COMMAND_TIMEOUT.read(configuration) / 1000,
        )
