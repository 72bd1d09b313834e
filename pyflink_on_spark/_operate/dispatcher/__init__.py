"""The server of all jobs of a user, which also starts scripts: Flink's dispatcher."""
