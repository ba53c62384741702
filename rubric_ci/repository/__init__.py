"""The git repository around the evals: its objects, its branches, an earlier state; effects."""
