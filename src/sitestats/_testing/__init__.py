"""Make sample results for unit tests."""
