"""Make the pictures of the README and the documentation: ``nox -s pictures``."""
