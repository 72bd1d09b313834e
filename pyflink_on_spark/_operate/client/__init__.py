"""The client of drivers of this user."""
