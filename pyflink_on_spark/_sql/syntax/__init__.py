"""What a statement or an expression says, before anybody knows what its names mean."""
