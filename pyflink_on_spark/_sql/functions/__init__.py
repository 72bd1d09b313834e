"""The functions and operators of SQL: which arguments they take, and the Python code for them."""
