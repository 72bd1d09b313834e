"""A job as an engine receives it: its translation, its configuration and its history."""
