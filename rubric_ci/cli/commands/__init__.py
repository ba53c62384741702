"""One module per command: load, run, write."""
