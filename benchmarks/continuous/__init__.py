"""Jobs that go on: throughput, latency and memory over a stretch of time."""
