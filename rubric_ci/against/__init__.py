"""`run --against`: the cases of a change, graded for base and head in the same run."""
