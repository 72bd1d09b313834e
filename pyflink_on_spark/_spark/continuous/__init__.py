"""Continuous mode: jobs that never end, and jobs with checkpoints.

Subtasks live in processes of their own, the *slot hosts*, for as long as an attempt of the job
does. A Structured Streaming query runs one micro-batch, an *epoch*, after the other: its tasks
bring the rows of each exchange to the hosts and take along what leaves.
"""
