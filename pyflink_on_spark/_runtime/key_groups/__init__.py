"""The key group of a key, and the subtask of a key group, as in Flink."""
