"""Git objects and the state of a checkout; effects."""
