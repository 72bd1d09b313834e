"""``state``: what a checkpoint or savepoint holds."""
