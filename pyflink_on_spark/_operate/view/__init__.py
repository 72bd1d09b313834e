"""The jobs of this process as those who operate them see them."""
