"""The driver's side of operation: a job can be found, watched and stopped from outside."""
