"""``python -m pyflink_on_spark serve``."""
