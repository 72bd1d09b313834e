"""The rows of a database's table, and then the changes of them."""
