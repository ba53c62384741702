"""The command `authorize`."""
