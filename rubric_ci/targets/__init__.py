"""Each target takes a case and gives an answer."""
