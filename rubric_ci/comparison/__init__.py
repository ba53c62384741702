"""A report against an earlier one, and what of it is noise; pure."""
