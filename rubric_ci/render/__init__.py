"""From a report or diagnostics to text, one format per module; pure."""
