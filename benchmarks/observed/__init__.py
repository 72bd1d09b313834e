"""What observing a job costs it."""
