"""`import` and `adopt`: load, translate, write."""
