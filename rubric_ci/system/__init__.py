"""The machine: commands, paths and revisions go in; output, texts and git objects come out.

Processes, files, signals and concurrency, and the repository in `git/`; secrets are masked here.
Start reading in `processes.py`.
"""
