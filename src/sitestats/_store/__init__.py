"""Store responses about past days."""
