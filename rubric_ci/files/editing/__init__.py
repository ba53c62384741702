"""Edit eval files in place; every byte that is not part of the edit is kept."""
