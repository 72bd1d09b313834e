"""The operators that run inside a subtask."""
