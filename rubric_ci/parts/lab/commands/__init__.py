"""One module per command: load, measure, write."""
