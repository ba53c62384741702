"""From the text of eval files and configuration to values and diagnostics; pure."""
