"""GitHub: values go in; comments, checks, issues and commits on GitHub come out.

One client sends all requests, with retry. Start reading in `rest_api.py`.
"""
