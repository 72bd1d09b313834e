"""Reads and writes Kafka topics, over confluent-kafka."""

from __future__ import annotations
