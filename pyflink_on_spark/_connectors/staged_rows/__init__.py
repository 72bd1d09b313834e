"""Rows on their way between Spark's DataFrames and a job: staged in Parquet files.

A DataFrame that a job reads is written by Spark, and read by the job's subtasks; what a job hands
over is written by its subtasks, and read by Spark.
"""
