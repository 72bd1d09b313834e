"""The cost of observing a job."""
