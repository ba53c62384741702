"""RunReport to JSON and back."""
