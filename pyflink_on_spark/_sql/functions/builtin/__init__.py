"""Flink's functions and operators; a module for each chapter of Flink's documentation."""
