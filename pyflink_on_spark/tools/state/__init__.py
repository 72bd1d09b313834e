"""``state``: the content of a checkpoint or savepoint."""
