"""The query builder, and every rule of the service's document."""
