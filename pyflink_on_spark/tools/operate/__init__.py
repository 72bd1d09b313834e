"""Flink's commands: ``run``, ``info``, ``list``, ``cancel``, ``stop``, ``savepoint``, ..."""
