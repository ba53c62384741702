"""Run a command and leave nothing of it behind; effects."""
