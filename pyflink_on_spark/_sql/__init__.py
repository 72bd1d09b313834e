"""Tables: SQL text and expressions become one plan, the plan becomes transformations."""
