"""The operating system: commands and paths go in; output and texts come out.

Processes, files, signals and concurrency; secrets are masked here. Start reading in
`processes.py`.
"""
