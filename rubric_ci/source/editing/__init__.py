"""Texts to texts in which little is different, and proven to be; pure."""
