"""The command ``flink`` of an environment."""
