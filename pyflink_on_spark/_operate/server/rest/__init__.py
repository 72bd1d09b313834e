"""Flink's REST API over the jobs of this process, without a server: requests in, answers out."""
