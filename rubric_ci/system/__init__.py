"""The operating system: processes, files, signals and concurrency.

Commands and paths go in, output and texts come out; secrets are masked here. Start reading in
`processes.py`.
"""
