"""The git repository: objects, branches and the base of a change."""
