"""Attempts of a job: splits, orders from outside, and restarts."""
