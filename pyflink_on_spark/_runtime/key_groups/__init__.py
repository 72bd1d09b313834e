"""Which key group a key belongs to, and which subtask a key group belongs to, as Flink has them."""
