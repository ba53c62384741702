"""Files, traces and results of other eval tools."""
