"""Variants of answers, and the criteria that notice them."""
