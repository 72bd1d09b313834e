"""Java's hash codes, of which the low 32 bits count."""
