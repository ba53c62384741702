"""The command line: options and arguments become settings."""
