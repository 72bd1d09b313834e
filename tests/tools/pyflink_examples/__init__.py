"""PyFlink's own examples, and what real PyFlink prints when it runs them."""
