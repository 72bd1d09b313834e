"""The settings of an environment for checkpoints, state and restarts."""

from __future__ import annotations

from typing import Self

from pyflink_on_spark._options.checkpointing import SAVEPOINT_DIRECTORY
from pyflink_on_spark._options.state import CHANGELOG
from pyflink_on_spark.common.restart_strategy import RestartStrategyConfiguration
from pyflink_on_spark.datastream.checkpoint_config import CheckpointConfig
from pyflink_on_spark.datastream.checkpointing_mode import CheckpointingMode
from pyflink_on_spark.datastream.state_backend import read_state_backend, write_state_backend
from pyflink_on_spark.datastream.stream_execution_environment.settings import GeneralSettings


class Checkpointing(GeneralSettings):
    """The part of an environment that sets what outlives a failure."""

    def get_checkpoint_config(self) -> CheckpointConfig:
        """Return the checkpoint config, a view of the configuration."""
        return CheckpointConfig(self._configuration)

    def enable_checkpointing(self, interval: int, mode: CheckpointingMode | None = None) -> Self:
        """Checkpoint the job every ``interval`` ms."""
        config = self.get_checkpoint_config()
        config.set_checkpoint_interval(interval)
        if mode is not None:
            config.set_checkpointing_mode(mode)
        return self

    def get_checkpoint_interval(self) -> int:
        """Return the time between checkpoints in ms; -1 if there are none."""
        return self.get_checkpoint_config().get_checkpoint_interval()

    def get_checkpointing_mode(self) -> CheckpointingMode:
        """Return the guarantee of checkpoints."""
        return self.get_checkpoint_config().get_checkpointing_mode()

    def get_checkpointing_consistency_mode(self) -> CheckpointingMode:
        """Return the guarantee of checkpoints."""
        return self.get_checkpointing_mode()

    def is_unaligned_checkpoints_enabled(self) -> bool:
        """True if unaligned checkpoints are enabled and the mode is EXACTLY_ONCE."""
        return self.get_checkpoint_config().is_unaligned_checkpoints_enabled()

    def is_force_unaligned_checkpoints(self) -> bool:
        """True if unaligned checkpoints are forced."""
        return self.get_checkpoint_config().is_force_unaligned_checkpoints()

    def enable_changelog_state_backend(self, enabled: bool) -> Self:
        """Ask for changes of state to be logged, or not."""
        self._configuration._write(CHANGELOG, enabled)
        return self

    def is_changelog_state_backend_enabled(self) -> bool | None:
        """True if changes of state are to be logged; None if this is not set."""
        if not self._configuration._is_set(CHANGELOG):
            return None
        return self._configuration._read(CHANGELOG)

    def set_state_backend(self, state_backend) -> Self:
        """Choose where state is kept (removed in Flink 2)."""
        write_state_backend(self._configuration, state_backend)
        return self

    def get_state_backend(self):
        """Return where state is kept; None if nothing was chosen (removed in Flink 2)."""
        return read_state_backend(self._configuration)

    def set_restart_strategy(
        self, restart_strategy_configuration: RestartStrategyConfiguration
    ) -> Self:
        """Choose what to do when the job fails (removed in Flink 2)."""
        self.get_config().set_restart_strategy(restart_strategy_configuration)
        return self

    def get_restart_strategy(self) -> RestartStrategyConfiguration:
        """Return the strategy for restarts after failures (removed in Flink 2)."""
        return self.get_config().get_restart_strategy()

    def set_default_savepoint_directory(self, directory: str) -> Self:
        """Set where savepoints are written if nothing else is said."""
        self._configuration._write(SAVEPOINT_DIRECTORY, directory)
        return self

    def get_default_savepoint_directory(self) -> str | None:
        """Return where savepoints are written if nothing else is said."""
        return self._configuration._read(SAVEPOINT_DIRECTORY)
