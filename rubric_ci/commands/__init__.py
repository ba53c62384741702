"""One module per command: load, run, write; the only package that prints."""
