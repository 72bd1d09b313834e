"""Processes that run a job together: hosts, and what connects them. Needs no Spark."""
