"""Checkpoints and savepoints: what is in them, and how they lie in a folder."""
