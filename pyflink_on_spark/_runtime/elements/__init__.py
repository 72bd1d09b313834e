"""Elements, their keys and times, and the events that travel between them."""
