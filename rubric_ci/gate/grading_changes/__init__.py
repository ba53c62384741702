"""Changes to the grading, and their direction."""
