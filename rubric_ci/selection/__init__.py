"""The cases that a change can affect; pure."""
