"""The judge measured, the criteria probed, and runs over nights."""
