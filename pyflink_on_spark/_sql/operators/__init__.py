"""What runs inside a subtask."""
