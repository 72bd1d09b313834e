"""Flink's metrics of the jobs of this process, and the reporters that pass them on."""
