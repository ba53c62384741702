"""Select the cases that a change can affect."""
