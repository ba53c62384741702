"""What a setup lacks: each check says ok, or what to do; no prompt is sent."""
