"""What a session knows of tables, views, databases and catalogs."""
