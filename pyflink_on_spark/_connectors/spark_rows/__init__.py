"""Rows between Spark's DataFrames and a job, staged in Parquet files.

Spark writes the rows of a DataFrame that a job reads, and the subtasks of the job read them. The
subtasks write the rows that a job hands over, and Spark reads them.
"""
