"""What a client is made of: settings, secrets, profiles."""
