"""Whose judge, gate and rules hold: the base's on a pull request, else the checkout's own."""
