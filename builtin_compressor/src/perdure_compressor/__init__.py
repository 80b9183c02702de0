"""The built-in context engine."""
