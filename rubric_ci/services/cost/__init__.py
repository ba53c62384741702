"""The requests and starts of a command before it sends them, and their cost."""
