"""Unbounded jobs: throughput, latency and memory over a stretch of time."""
