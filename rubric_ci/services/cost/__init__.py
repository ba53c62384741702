"""What will be requested and started before it happens, and what that costs."""
