"""A run: the cases of a change graded on one side or both."""
