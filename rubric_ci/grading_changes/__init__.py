"""What a change does to the grading, and in which direction."""
