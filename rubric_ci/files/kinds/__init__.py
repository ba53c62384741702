"""Types of evaluators: a file per kind, and one row of a table."""
