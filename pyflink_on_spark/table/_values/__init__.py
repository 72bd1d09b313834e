"""Values and results on their way between Python and tables."""
