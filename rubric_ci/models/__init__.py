"""Requests to models and programs: a request goes in, a valid reply comes out.

`judge/` writes prompts and checks marks, `llm/` sends requests within budget, rate limit and
allowed hosts, `agents/` has the interface of agent programs. Start reading in `judge/request.py`.
"""
