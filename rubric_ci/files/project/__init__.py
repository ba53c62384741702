"""The project: its configuration, targets files and eval files."""
