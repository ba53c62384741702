"""What differs between two states: found by a walk of the values, weighed by one table."""
