"""Measures this package against real PyFlink, PySpark written by hand, and a bare Python loop."""
