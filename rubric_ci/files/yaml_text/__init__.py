"""YAML and JSON Lines text becomes data with the line and column of each value."""
