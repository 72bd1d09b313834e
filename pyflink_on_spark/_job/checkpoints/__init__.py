"""The driver's side of checkpoints: when, where and whose they are, and what they commit."""
