"""The metrics of user functions: registered in a subtask, merged into a job's accumulators."""
