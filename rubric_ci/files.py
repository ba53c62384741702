"""The working tree: which files hold evals, what they say, what they refer to; effects."""
